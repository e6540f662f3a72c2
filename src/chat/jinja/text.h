#pragma once
// A string that remembers, byte by byte, whether the template or a message wrote it. Every operation of the engine carries that along,
// so that at the end only what the template wrote may be read as control tokens.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace outrider::jinja {

// Thrown inside the engine only; template.cpp turns it into an Error.
struct TemplateError {
  std::string message;
  int line = 0;  // 0: filled in by the statement that was running
};

// No single string grows beyond this, not even for a moment: an append that would throws.
constexpr size_t kMaxTextBytes = 32u << 20;

class Text {
 public:
  struct Run {
    size_t end;  // the run reaches from the end of the run before it up to here, in bytes
    bool from_template;
  };

  Text() = default;
  Text(std::string_view bytes, bool from_template) { append(bytes, from_template); }

  const std::string& bytes() const { return bytes_; }
  const std::vector<Run>& runs() const { return runs_; }  // in order, never empty ones, neighbours differ
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  // Provenance of the byte at `at`; for an empty text or the end, of the template.
  bool from_template_at(size_t at) const;

  void append(std::string_view bytes, bool from_template);
  void append(const Text& other) { append(other, 0, other.size()); }
  void append(const Text& other, size_t begin, size_t end);
  // New bytes that stand for byte `at` of `origin` (an upper-case letter, an escape) come from where that byte came from.
  void append_like(std::string_view bytes, const Text& origin, size_t at) { append(bytes, origin.from_template_at(at)); }

  Text substring(size_t begin, size_t end) const;

  void clear() {
    bytes_.clear();
    runs_.clear();
  }

 private:
  std::string bytes_;
  std::vector<Run> runs_;
};

// Characters are code points, as in Python; a byte that is no part of valid UTF-8 counts as one character.
size_t character_size(std::string_view text, size_t at);            // bytes of the character that begins at `at`
uint32_t character_at(std::string_view text, size_t at);            // its code point; an invalid byte b is 0xDC00 + b
size_t character_count(std::string_view text);
std::vector<size_t> character_starts(std::string_view text);        // and the end of the text as a last entry
void append_utf8(std::string& out, uint32_t code_point);
bool is_space(uint32_t code_point);  // Python's str.isspace for one character

// The text between leading and trailing characters for which `drop(code_point)` holds, as byte positions.
struct Extent { size_t begin, end; };
template <class Drop>
Extent trimmed(std::string_view text, bool left, bool right, Drop drop) {
  size_t begin = 0, end = text.size();
  while (left && begin < end && drop(character_at(text, begin))) begin += character_size(text, begin);
  while (right && begin < end) {
    size_t size = std::min<size_t>(4, end - begin);  // the last character: the longest that ends here
    while (size > 1 && character_size(text, end - size) != size) size--;
    if (!drop(character_at(text, end - size))) break;
    end -= size;
  }
  return {begin, end};
}

}  // namespace outrider::jinja
