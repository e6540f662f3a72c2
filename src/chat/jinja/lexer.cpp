#include "chat/jinja/lexer.h"

#include <array>
#include <charconv>

namespace outrider::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || uint8_t(c) >= 0x80; }

// Line ends become \n, and one newline at the very end is not part of the template.
std::string normalised(std::string_view source) {
  std::string text;
  for (size_t i = 0; i < source.size(); i++) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') i++;
    } else {
      text += source[i];
    }
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : text_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      const size_t tag = next_tag();
      if (tag == std::string::npos) {
        emit_data(text_.size());
        break;
      }
      const char kind = text_[tag + 1];
      const char sign = sign_at(tag + 2);
      emit_data(data_end(tag, kind, sign));
      at_ = tag + 2 + (sign ? 1 : 0);
      count_lines();
      if (kind == '#') comment();
      else if (kind == '{') expression(TokenKind::output_begin, TokenKind::output_end, "}}");
      else if (const size_t raw = raw_begin()) raw_block(raw);
      else expression(TokenKind::block_begin, TokenKind::block_end, "%}");
    }
    push(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw TemplateError{message, line_}; }

  char look(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool looking_at(std::string_view s) const { return std::string_view(text_).substr(at_).starts_with(s); }

  size_t next_tag() const {
    for (size_t i = text_.find('{', at_); i != std::string::npos; i = text_.find('{', i + 1)) {
      const char next = i + 1 < text_.size() ? text_[i + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') return i;
    }
    return std::string::npos;
  }

  char sign_at(size_t place) const {
    const char c = place < text_.size() ? text_[place] : '\0';
    return c == '-' || c == '+' ? c : '\0';
  }

  // Where the data before a tag ends once stripping on its right side is done.
  size_t data_end(size_t tag, char kind, char sign) const {
    const std::string_view data = std::string_view(text_).substr(at_, tag - at_);
    if (sign == '-') return at_ + trimmed(data, false, true, is_space).end;
    if (sign == '+' || kind == '{') return tag;
    const size_t newline = data.rfind('\n'), line_start = newline == std::string_view::npos ? 0 : newline + 1;
    if (line_start == 0 && !at_line_start_) return tag;
    const Extent inner = trimmed(data.substr(line_start), true, false, is_space);
    return inner.begin == inner.end ? at_ + line_start : tag;
  }

  void count_lines() {
    for (; counted_ < at_; counted_++) line_ += text_[counted_] == '\n';
  }

  void push(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), 0, 0, line_}); }

  void emit_data(size_t end) {
    if (end <= at_) return;
    push(TokenKind::data, text_.substr(at_, end - at_));
  }

  void skip_spaces() {
    at_ += trimmed(std::string_view(text_).substr(at_), true, false, is_space).begin;
    count_lines();
  }

  // Steps over the end of a tag: its sign, the two characters and the whitespace that goes with them. False when it is not there.
  bool take_end(std::string_view mark, bool trims_newline) {
    const bool minus = look(0) == '-', plus = trims_newline && look(0) == '+';
    if (!std::string_view(text_).substr(at_ + (minus || plus ? 1 : 0)).starts_with(mark)) return false;
    at_ += mark.size() + (minus || plus ? 1 : 0);
    if (minus) skip_spaces();
    else if (trims_newline && !plus && look(0) == '\n') at_++;
    at_line_start_ = at_ > 0 && text_[at_ - 1] == '\n';
    count_lines();
    return true;
  }

  void comment() {
    if (at_ >= text_.size()) return;  // as the reference has it: an opening at the very end is nothing
    for (; at_ < text_.size(); at_++) {
      const char c = text_[at_];
      if ((c == '#' || c == '-' || c == '+') && take_end("#}", true)) return;
    }
    fail("Missing end of comment tag");
  }

  // At the word after {% : the length of «raw %}» there, or 0.
  size_t raw_begin() const {
    size_t i = at_;
    const auto skip = [&] {
      while (i < text_.size() && is_space(uint8_t(text_[i]) < 0x80 ? uint32_t(text_[i]) : 'x')) i++;
    };
    skip();
    if (std::string_view(text_).substr(i, 3) != "raw") return 0;
    i += 3;
    skip();
    const std::string_view rest = std::string_view(text_).substr(i);
    return rest.starts_with("%}") || rest.starts_with("-%}") ? i - at_ : 0;
  }

  void raw_block(size_t to_end_mark) {
    at_ += to_end_mark;
    const bool minus = look(0) == '-';
    at_ += minus ? 3 : 2;
    if (minus) skip_spaces();
    if (at_ >= text_.size()) return;  // as above
    at_line_start_ = text_[at_ - 1] == '\n';
    for (size_t tag = text_.find("{%", at_); tag != std::string::npos; tag = text_.find("{%", tag + 2)) {
      const char sign = sign_at(tag + 2);
      size_t i = tag + 2 + (sign ? 1 : 0);
      const auto skip = [&] {
        while (i < text_.size() && is_space(uint8_t(text_[i]) < 0x80 ? uint32_t(text_[i]) : 'x')) i++;
      };
      skip();
      if (std::string_view(text_).substr(i, 6) != "endraw") continue;
      i += 6;
      skip();
      const size_t start = at_, end = data_end(tag, '%', sign);
      at_ = i;
      if (!take_end("%}", true)) {
        at_ = start;
        continue;
      }
      if (end > start) push(TokenKind::data, text_.substr(start, end - start));
      return;
    }
    fail("Missing end of raw directive");
  }

  void expression(TokenKind begin, TokenKind end, std::string_view mark) {
    push(begin, "");
    std::string open;  // closing brackets that are due
    for (;;) {
      skip_spaces();
      if (at_ >= text_.size()) {
        push(TokenKind::end, "");
        return;
      }
      if (open.empty() && take_end(mark, mark == "%}")) {
        push(end, "");
        return;
      }
      const char c = look(0);
      if (is_digit(c)) number();
      else if (is_name_start(c)) name();
      else if (c == '\'' || c == '"') string(c);
      else symbol(open);
    }
  }

  void name() {
    const size_t start = at_;
    while (is_name_start(look(0)) || is_digit(look(0))) at_++;
    push(TokenKind::name, text_.substr(start, at_ - start));
  }

  static int digit_value(char c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
  }

  // Digits, single underscores between them left out.
  std::string digits(int base) {
    std::string out;
    for (;; at_++) {
      if (digit_value(look(0)) < base) out += look(0);
      else if (!(look(0) == '_' && !out.empty() && digit_value(look(1)) < base)) return out;
    }
  }

  void number() {
    int base = 10;
    const bool after_dot = at_ > 0 && text_[at_ - 1] == '.';  // the second index of a.0.1
    if (look(0) == '0') {
      const char mark = char(look(1) | 0x20);
      base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
      if (base != 10) at_ += 2;
    }
    const size_t start = at_;
    std::string text = digits(base);
    bool real = false;
    if (base == 10 && look(0) == '.' && is_digit(look(1)) && !after_dot) {
      at_++;
      text += '.' + digits(10);
      real = true;
    }
    const size_t sign = look(1) == '+' || look(1) == '-' ? 1 : 0;
    if (base == 10 && (look(0) | 0x20) == 'e' && is_digit(look(1 + sign))) {
      text += 'e';
      if (sign) text += look(1);
      at_ += 1 + sign;
      text += digits(10);
      real = true;
    }
    if (const size_t zeros = text.find_first_not_of('0'); !real && base == 10 && zeros > 0 && zeros != std::string::npos) {
      text.resize(zeros);  // 07 is 0 and then 7, which the parser will refuse
      at_ = start + zeros;
    }
    push(real ? TokenKind::real : TokenKind::integer, text);
    const char *first = text.data(), *last = first + text.size();
    const auto result =
        real ? std::from_chars(first, last, tokens_.back().real) : std::from_chars(first, last, tokens_.back().integer, base);
    if (result.ec != std::errc() || result.ptr != last) fail("number out of range: " + text);
  }

  void string(char quote) {
    std::string out;
    at_++;
    while (look(0) != quote) {
      if (at_ >= text_.size()) fail("unexpected char '" + std::string(1, quote) + "': a string is not closed");
      if (look(0) == '\\') escape(out);
      else out += text_[at_++];
    }
    at_++;
    push(TokenKind::string, std::move(out));
    count_lines();
  }

  void escape(std::string& out) {
    static constexpr std::string_view kLetters = "abfnrtv\\'\"\n", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    if (at_ + 1 >= text_.size()) fail("a string is not closed");
    const char c = look(1);
    at_ += 2;
    if (const size_t i = kLetters.find(c); i != std::string_view::npos) {
      if (i < kMeanings.size()) out += kMeanings[i];
    } else if (c >= '0' && c <= '7') {
      uint32_t code = uint32_t(c - '0');
      for (int more = 0; more < 2 && look(0) >= '0' && look(0) <= '7'; more++) code = code * 8 + uint32_t(text_[at_++] - '0');
      append_utf8(out, code);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const size_t length = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      uint32_t code = 0;
      const std::string hex = text_.substr(at_, length);
      const auto result = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
      if (hex.size() != length || result.ptr != hex.data() + length || code > 0x10ffff) fail("truncated or invalid escape in a string");
      at_ += length;
      append_utf8(out, code);
    } else {  // an unknown escape stays as it is
      out += '\\';
      out += c;
    }
  }

  void symbol(std::string& open) {
    static constexpr std::array<std::string_view, 6> kDouble = {"==", "!=", "<=", ">=", "//", "**"};
    for (std::string_view s : kDouble) {
      if (!looking_at(s)) continue;
      at_ += 2;
      return push(TokenKind::symbol, std::string(s));
    }
    const char c = look(0);
    if (std::string_view("+-*/%~<>=.:,|()[]{};").find(c) == std::string_view::npos) fail("unexpected char '" + std::string(1, c) + "'");
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) fail("unexpected '" + std::string(1, c) + "'");
      if (open.back() != c) fail("unexpected '" + std::string(1, c) + "', expected '" + open.back() + "'");
      open.pop_back();
    }
    at_++;
    push(TokenKind::symbol, std::string(1, c));
  }

  std::string text_;
  size_t at_ = 0, counted_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;  // whether what was read last ended a line
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view source) { return Lexer(normalised(source)).run(); }

}  // namespace outrider::jinja
