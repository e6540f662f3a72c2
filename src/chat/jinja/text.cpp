#include "chat/jinja/text.h"

#include <algorithm>

namespace outrider::jinja {

bool Text::from_template_at(size_t at) const {
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), at, [](size_t place, const Run& r) { return place < r.end; });
  return run == runs_.end() || run->from_template;
}

void Text::append(std::string_view bytes, bool from_template) {
  if (bytes.empty()) return;
  if (bytes.size() > kMaxTextBytes - bytes_.size())
    throw TemplateError{"the template makes a string of more than " + std::to_string(kMaxTextBytes) + " bytes"};
  bytes_.append(bytes);
  if (!runs_.empty() && runs_.back().from_template == from_template) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back({bytes_.size(), from_template});
  }
}

void Text::append(const Text& other, size_t begin, size_t end) {
  size_t start = 0;
  for (const Run& run : other.runs_) {
    const size_t from = std::max(begin, start), to = std::min(end, run.end);
    if (from < to) append(std::string_view(other.bytes_).substr(from, to - from), run.from_template);
    start = run.end;
  }
}

Text Text::substring(size_t begin, size_t end) const {
  Text result;
  result.append(*this, begin, end);
  return result;
}

size_t character_size(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? uint8_t(text[at + i]) : uint8_t(0); };
  const auto tail = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint8_t b = byte(0);
  if (b >= 0xc2 && b <= 0xdf && tail(1)) return 2;
  if (b >= 0xe0 && b <= 0xef && tail(1) && tail(2)) {
    const bool overlong = b == 0xe0 && byte(1) < 0xa0, surrogate = b == 0xed && byte(1) > 0x9f;
    if (!overlong && !surrogate) return 3;
  }
  if (b >= 0xf0 && b <= 0xf4 && tail(1) && tail(2) && tail(3)) {
    const bool overlong = b == 0xf0 && byte(1) < 0x90, beyond = b == 0xf4 && byte(1) > 0x8f;
    if (!overlong && !beyond) return 4;
  }
  return 1;
}

uint32_t character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return uint32_t(uint8_t(text[at + i])); };
  switch (character_size(text, at)) {
    case 2: return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3: return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    case 4: return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
    default: return byte(0) < 0x80 ? byte(0) : 0xdc00 + byte(0);
  }
}

size_t character_count(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += character_size(text, at)) count++;
  return count;
}

std::vector<size_t> character_starts(std::string_view text) {
  std::vector<size_t> starts;
  for (size_t at = 0; at < text.size(); at += character_size(text, at)) starts.push_back(at);
  starts.push_back(text.size());
  return starts;
}

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += char(0xc0 | c >> 6);
    out += char(0x80 | (c & 0x3f));
  } else if (c >= 0xdc80 && c <= 0xdcff) {  // an invalid byte, back as it was
    out += char(c - 0xdc00);
  } else if (c < 0x10000) {
    out += char(0xe0 | c >> 12);
    out += char(0x80 | (c >> 6 & 0x3f));
    out += char(0x80 | (c & 0x3f));
  } else {
    out += char(0xf0 | c >> 18);
    out += char(0x80 | (c >> 12 & 0x3f));
    out += char(0x80 | (c >> 6 & 0x3f));
    out += char(0x80 | (c & 0x3f));
  }
}

bool is_space(uint32_t c) {
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

}  // namespace outrider::jinja
