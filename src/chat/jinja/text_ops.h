#pragma once
// String operations that keep provenance, shared by methods and filters.
#include "chat/jinja/runner.h"

namespace outrider::jinja {

enum class CaseMode { upper, lower, capitalize, title_words, title_filter };

Text change_case(const Text& text, CaseMode mode);
Text strip(const Text& text, const Text* characters, bool left, bool right);
Text replace(const Text& text, const Text& from, const Text& to, int64_t count);  // count < 0: all
std::vector<Text> split(const Text& text, const Text* separator, int64_t limit);         // null: at runs of whitespace
std::vector<Text> split_from_right(const Text& text, const Text* separator, int64_t limit);
std::vector<Text> split_lines(const Text& text, bool keep_ends);
Text join(const std::vector<Text>& parts, const Text& separator);
Text padded(const Text& text, int64_t width, int side);  // side: -1 text at the left, 0 in the middle, 1 at the right

}  // namespace outrider::jinja
