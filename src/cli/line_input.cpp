#include "cli/line_input.h"

#ifdef OUTRIDER_HAS_EDIT
#include <histedit.h>
#endif

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>

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
  Editor() : line(el_init("outrider", stdin, stderr, stderr)), history(history_init()) {
    history_setsize();
    el_set(line, EL_CLIENTDATA, static_cast<void*>(this));
    el_set(line, EL_PROMPT, &prompt_of);
    el_set(line, EL_EDITOR, "emacs");
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
  std::string text;
#ifdef OUTRIDER_HAS_EDIT
  if (editor_) {
    editor_->prompt = prompt;
    int length = 0;
    const char* line = el_gets(editor_->line, &length);
    if (!line) {
      if (!interrupted()) return std::nullopt;
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
  if (!std::getline(std::cin, text)) return std::nullopt;
  return text;
}

}  // namespace outrider::cli
