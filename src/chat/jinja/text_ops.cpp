#include "chat/jinja/text_ops.h"

#include <utf8proc.h>

#include <algorithm>

namespace outrider::jinja {
namespace {

bool is_letter(uint32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (c >= 0xdc80 && c <= 0xdcff) return false;
  const auto category = utf8proc_category(utf8proc_int32_t(c));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

uint32_t cased(uint32_t c, bool upper, bool title) {
  if (c >= 0xdc80 && c <= 0xdcff) return c;
  const auto point = utf8proc_int32_t(c);
  return uint32_t(!upper ? utf8proc_tolower(point) : title ? utf8proc_totitle(point) : utf8proc_toupper(point));
}

// A list of parts costs far more memory than the text it came from.
void add_part(std::vector<Text>& parts, Text part) {
  if (parts.size() >= 1000000) throw TemplateError{"a string is split into more than a million parts"};
  parts.push_back(std::move(part));
}

}  // namespace

Text change_case(const Text& text, CaseMode mode) {
  Text out;
  const std::string& bytes = text.bytes();
  bool start = true;  // of the text or of a word: the letter here is made large
  for (size_t at = 0; at < bytes.size(); at += character_size(bytes, at)) {
    const uint32_t c = character_at(bytes, at);
    const bool upper = mode == CaseMode::upper || (mode != CaseMode::lower && start);
    if (c == 0xdf && upper) {  // the one common letter that grows
      out.append_like(mode == CaseMode::upper ? "SS" : "Ss", text, at);
    } else {
      std::string changed;
      append_utf8(changed, cased(c, upper, mode == CaseMode::title_words || mode == CaseMode::capitalize));
      out.append_like(changed, text, at);
    }
    if (mode == CaseMode::title_words) start = !is_letter(c);
    else if (mode == CaseMode::title_filter) start = c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
    else start = false;
  }
  return out;
}

Text strip(const Text& text, const Text* characters, bool left, bool right) {
  const auto drop = [&](uint32_t c) {
    if (!characters) return is_space(c);
    const std::string& set = characters->bytes();
    for (size_t at = 0; at < set.size(); at += character_size(set, at)) {
      if (character_at(set, at) == c) return true;
    }
    return false;
  };
  const Extent inner = trimmed(text.bytes(), left, right, drop);
  return text.substring(inner.begin, inner.end);
}

Text replace(const Text& text, const Text& from, const Text& to, int64_t count) {
  Text out;
  const std::string& bytes = text.bytes();
  size_t at = 0;
  if (from.empty()) {  // between all characters
    for (; count != 0; count--) {
      out.append(to);
      if (at >= bytes.size()) return out;
      const size_t size = character_size(bytes, at);
      out.append(text, at, at + size);
      at += size;
    }
  }
  for (; count != 0; count--) {
    const size_t found = from.empty() ? std::string::npos : bytes.find(from.bytes(), at);
    if (found == std::string::npos) break;
    out.append(text, at, found);
    out.append(to);
    at = found + from.size();
  }
  out.append(text, at, bytes.size());
  return out;
}

std::vector<Text> split(const Text& text, const Text* separator, int64_t limit) {
  std::vector<Text> parts;
  const std::string& bytes = text.bytes();
  size_t at = 0;
  if (separator) {
    for (; limit != 0; limit--) {
      const size_t found = bytes.find(separator->bytes(), at);
      if (found == std::string::npos) break;
      add_part(parts, text.substring(at, found));
      at = found + separator->size();
    }
    add_part(parts, text.substring(at, bytes.size()));
    return parts;
  }
  const auto skip = [&](bool spaces) {
    while (at < bytes.size() && is_space(character_at(bytes, at)) == spaces) at += character_size(bytes, at);
  };
  for (;; limit--) {
    skip(true);
    if (at >= bytes.size()) return parts;
    const size_t start = at;
    if (limit == 0) at = bytes.size();
    else skip(false);
    add_part(parts, text.substring(start, at));
  }
}

std::vector<Text> split_from_right(const Text& text, const Text* separator, int64_t limit) {
  if (limit < 0) return split(text, separator, -1);
  std::vector<Text> parts;
  const std::string& bytes = text.bytes();
  if (separator) {
    size_t end = bytes.size();
    for (; limit != 0 && end >= separator->size(); limit--) {
      const size_t found = bytes.rfind(separator->bytes(), end - separator->size());
      if (found == std::string::npos) break;
      add_part(parts, text.substring(found + separator->size(), end));
      end = found;
    }
    add_part(parts, text.substring(0, end));
  } else {
    Text rest = strip(text, nullptr, false, true);
    for (; limit != 0 && !rest.empty(); limit--) {
      const Extent head = trimmed(rest.bytes(), false, true, [](uint32_t c) { return !is_space(c); });
      add_part(parts, rest.substring(head.end, rest.size()));
      rest = strip(rest.substring(0, head.end), nullptr, false, true);
    }
    if (!rest.empty()) add_part(parts, rest);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Text> split_lines(const Text& text, bool keep_ends) {
  std::vector<Text> lines;
  const std::string& bytes = text.bytes();
  size_t start = 0;
  for (size_t at = 0; at < bytes.size();) {
    const uint32_t c = character_at(bytes, at);
    const size_t here = at;
    at += character_size(bytes, at);
    const bool ends = (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
    if (!ends) continue;
    if (c == '\r' && at < bytes.size() && bytes[at] == '\n') at++;
    add_part(lines, text.substring(start, keep_ends ? at : here));
    start = at;
  }
  if (start < bytes.size()) add_part(lines, text.substring(start, bytes.size()));
  return lines;
}

Text join(const std::vector<Text>& parts, const Text& separator) {
  Text out;
  for (size_t i = 0; i < parts.size(); i++) {
    if (i > 0) out.append(separator);
    out.append(parts[i]);
  }
  return out;
}

Text padded(const Text& text, int64_t width, int side) {
  if (width > 100000) throw TemplateError{"a width of " + std::to_string(width) + " is too large"};
  const int64_t missing = std::max<int64_t>(0, width - int64_t(character_count(text.bytes())));
  const int64_t left = side < 0 ? 0 : side > 0 ? missing : missing / 2 + (missing & width & 1);
  Text out(std::string(size_t(left), ' '), true);
  out.append(text);
  out.append(std::string(size_t(missing - left), ' '), true);
  return out;
}

}  // namespace outrider::jinja
