#pragma once
// A line from the person: with editing and history on a terminal (libedit, where it was found), plain otherwise.
#include <memory>
#include <optional>
#include <string>

namespace outrider::cli {

class LineInput {
 public:
  explicit LineInput(bool terminal);
  ~LineInput();
  // Nothing at the end of input and after a request to stop; but Ctrl-C in a line that is being edited gives an empty one.
  std::optional<std::string> read(const std::string& prompt);

 private:
  std::optional<std::string> read_plain();

  struct Editor;
  std::unique_ptr<Editor> editor_;
  std::string ahead_;  // what a plain read has brought beyond the line
};

}  // namespace outrider::cli
