#include "cli/line_input.h"

#ifdef OUTRIDER_HAS_EDIT
#include <histedit.h>
#endif

#include <poll.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <utility>

#include "cli/interrupts.h"
#include "cli/terminal.h"

namespace outrider::cli {

#ifdef OUTRIDER_HAS_EDIT
struct LineInput::Editor {
  EditLine* line = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string prompt;

  static char* prompt_of(EditLine* e) {
    void* self = nullptr;
    el_get(e, EL_CLIENTDATA, &self);
    return static_cast<Editor*>(self)->prompt.data();
  }
  // libedit's own reading would go on after a signal.
  static int next_character(EditLine*, wchar_t* character) {
    std::mbstate_t state{};
    while (wait_readable(0)) {
      char byte = 0;
      const ssize_t n = ::read(0, &byte, 1);
      if (n < 0 && try_again(0, POLLIN)) continue;
      if (n <= 0) return int(n);
      if (byte == 0) continue;  // what a Ctrl-D during the answer has left in the queue
      const size_t used = std::mbrtowc(character, &byte, 1, &state);
      if (used <= 1) return 1;
      if (used == size_t(-1)) state = {};  // a byte that begins no character
    }
    return -1;
  }
  Editor() : line(el_init("outrider", stdin, stderr, stderr)), history(history_init()) {
    history_setsize();
    el_set(line, EL_CLIENTDATA, static_cast<void*>(this));
    el_set(line, EL_PROMPT, &prompt_of);
    el_set(line, EL_EDITOR, "emacs");
    el_set(line, EL_GETCFN, &next_character);
    el_set(line, EL_HIST, ::history, history);
  }
  void history_setsize() { ::history(history, &event, H_SETSIZE, 200); }
  ~Editor() {
    history_end(history);
    el_end(line);
  }
};
#else
struct LineInput::Editor {};
#endif

LineInput::LineInput(bool terminal) {
#ifdef OUTRIDER_HAS_EDIT
  if (!terminal) return;
  // libedit reads characters by the locale; only their classes are taken from it, numbers stay as they are.
  if (!std::setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  editor_ = std::make_unique<Editor>();
#else
  (void)terminal;
#endif
}

LineInput::~LineInput() = default;

std::optional<std::string> LineInput::read(const std::string& prompt) {
#ifdef OUTRIDER_HAS_EDIT
  if (terminated()) return std::nullopt;
  if (editor_) {
    std::string text;
    editor_->prompt = prompt;
    int length = 0;
    const char* line = el_gets(editor_->line, &length);
    if (!line) {
      if (!interrupted() || terminated()) return std::nullopt;
      say("");
      return "";
    }
    text.assign(line, size_t(length));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (!text.empty()) history(editor_->history, &editor_->event, H_ENTER, text.c_str());
    return text;
  }
#endif
  (void)prompt;
  return read_plain();
}

std::optional<std::string> LineInput::read_plain() {
  while (!interrupted()) {
    const size_t end = ahead_.find('\n');
    if (end != std::string::npos) {
      std::string line = ahead_.substr(0, end);
      ahead_.erase(0, end + 1);
      return line;
    }
    if (!wait_readable(0)) break;
    char buffer[1 << 12];
    const ssize_t n = ::read(0, buffer, sizeof buffer);
    if (n < 0 && try_again(0, POLLIN)) continue;
    if (n > 0) ahead_.append(buffer, size_t(n));
    else return ahead_.empty() ? std::nullopt : std::optional(std::exchange(ahead_, {}));
  }
  return std::nullopt;
}

}  // namespace outrider::cli
