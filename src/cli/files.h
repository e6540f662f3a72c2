#pragma once
// Whole texts from files and standard input, and files that are written.
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace outrider::cli {

// Up to the end, or to a request to stop (interrupts.h): then what came before it.
Result<std::string> read_file(const std::string& path);
Result<std::string> read_stdin();
// No more than `most` bytes of it.
struct Beginning {
  std::string text;
  bool cut;  // there was more
};
Result<Beginning> read_beginning(const std::string& path, size_t most);

using Put = std::function<Result<void>(std::string_view bytes)>;
// `fill` writes the content with the function it gets. A regular file appears whole, by a rename at the end, so that a full disk
// leaves the old one as it was; a device or a pipe is written to, never replaced.
Result<void> write_file(const std::string& path, const std::function<Result<void>(const Put& put)>& fill);

}  // namespace outrider::cli
