#pragma once
// Manners of the terminal: talk goes to stderr, results to stdout, one line an error, Ctrl-C is a request.
#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace outrider::cli {

bool stderr_is_terminal();
bool stdin_is_terminal();

// Writes to stdout at once. False when nobody reads any more or the disk is full; then every later call is false too.
bool write_out(std::string_view text);
void say(const std::string& line);   // one line on stderr
void warn(const std::string& line);  // the same, marked
// Prints «outrider: message; hint» and gives the exit code.
int report(const Error& error);

// A reader that went away shows as a failed write, not as a signal.
void ignore_broken_pipes();
// From here on Ctrl-C sets the flag, for commands that can stop by themselves; a second one while it is set ends the process with 130.
void watch_interrupts();
std::atomic<bool>& interrupted();

// A bar on a terminal's stderr, nothing elsewhere.
std::function<void(size_t, size_t)> load_progress(std::string label);
void clear_progress();

Result<std::string> read_file(const std::string& path);
Result<std::string> read_stdin();
// Through a temporary file and a rename, so that a full disk leaves the old file as it was.
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace outrider::cli
