#pragma once
// Manners of the terminal: talk goes to stderr, results to stdout, one line an error.
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace outrider::cli {

bool stderr_is_terminal();
bool stdin_is_terminal();
bool stdout_is_terminal();
bool colours_allowed();  // not where NO_COLOR is set (no-color.org)

// Writes to stdout at once. False when nobody reads any more or the disk is full; then every later call is false too.
bool write_out(std::string_view text);
Error output_error();                // why write_out failed
int print(std::string_view result);  // writes it and gives the exit code
void say(const std::string& line);   // one line on stderr
void warn(const std::string& line);  // the same, marked
// Prints «outrider: message; hint» and gives the exit code.
int report(const Error& error);

// A bar on a terminal's stderr, nothing elsewhere. It may be told from any thread and never steps back.
std::function<void(size_t, size_t)> load_progress(std::string label);
void clear_progress();

}  // namespace outrider::cli
