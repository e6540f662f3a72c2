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
  // Nothing at the end of input. On a terminal with libedit an interrupt gives an empty line, without it the end.
  std::optional<std::string> read(const std::string& prompt);

 private:
  struct Editor;
  std::unique_ptr<Editor> editor_;
};

}  // namespace outrider::cli
