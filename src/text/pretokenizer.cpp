#include "text/pretokenizer.h"

#include <algorithm>

#include "text/unicode.h"
#include "text/utf8.h"

namespace outrider {
namespace {

struct Char {
  uint32_t point, bytes;
  uint8_t classes;
  bool is(uint8_t wanted) const { return classes & wanted; }
  bool newline() const { return point == '\r' || point == '\n'; }
  // [^\s\p{L}\p{N}], without marks where those count as letters
  bool symbol(uint8_t letters) const { return bytes && !is(kSpace | kNumber | letters); }
};

// The character at `at`; at the end one without bytes or classes.
Char char_at(std::string_view text, size_t at) {
  if (at >= text.size()) return {kInvalidCodePoint, 0, 0};
  const Utf8Char c = decode_utf8(text, at);
  return {c.code_point, c.bytes, char_class(c.code_point)};
}

template <class Predicate>
size_t run_end(std::string_view text, size_t at, Predicate belongs) {
  for (Char c = char_at(text, at); c.bytes && belongs(c); c = char_at(text, at)) at += c.bytes;
  return at;
}

// 's 't 're 've 'm 'll 'd: the length of one that starts at `at`, else 0.
size_t contraction(std::string_view text, size_t at, bool any_case) {
  if (text[at] != '\'' || at + 1 >= text.size()) return 0;
  const auto letter = [&](size_t i) -> char {
    const char c = i < text.size() ? text[i] : '\0';
    return any_case && c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  };
  const char a = letter(at + 1), b = letter(at + 2);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return 3;
  return 0;
}

// \s+(?!\S)|\s+ at a space: the whole run at the end of the text, else all but its last character, unless that is all there is.
size_t space_run(std::string_view text, size_t at) {
  size_t end = at, last = at;
  for (Char c = char_at(text, at); c.is(kSpace); c = char_at(text, end)) last = end, end += c.bytes;
  return end == text.size() || last == at ? end : last;
}

size_t match_gpt2(std::string_view text, size_t at) {
  if (const size_t n = contraction(text, at, false)) return at + n;
  const size_t body = text[at] == ' ' ? at + 1 : at;
  const Char c = char_at(text, body);
  if (c.is(kLetter)) return run_end(text, body, [](const Char& d) { return d.is(kLetter); });
  if (c.is(kNumber)) return run_end(text, body, [](const Char& d) { return d.is(kNumber); });
  if (c.symbol(kLetter)) return run_end(text, body, [](const Char& d) { return d.symbol(kLetter); });
  return space_run(text, at);
}

// The family of qwen2: `letters` are the classes that make words, `digits` how many numbers stay together.
size_t match_qwen2(std::string_view text, size_t at, uint8_t letters, int digits) {
  if (const size_t n = contraction(text, at, true)) return at + n;
  const Char first = char_at(text, at), second = char_at(text, at + first.bytes);
  if (first.is(letters) || (second.is(letters) && !first.newline() && !first.is(kNumber)))
    return run_end(text, at + first.bytes, [letters](const Char& d) { return d.is(letters); });
  if (first.is(kNumber)) {
    size_t end = at + first.bytes;
    for (Char c = second; --digits > 0 && c.is(kNumber); c = char_at(text, end)) end += c.bytes;
    return end;
  }
  const size_t body = text[at] == ' ' ? at + 1 : at;
  if ((body > at ? second : first).symbol(letters)) {
    const size_t end = run_end(text, body, [letters](const Char& d) { return d.symbol(letters); });
    return run_end(text, end, [](const Char& d) { return d.newline(); });
  }
  size_t end = at, after_newline = at;  // \s*[\r\n]+ takes the run up to its last line break
  for (Char c = first; c.is(kSpace); c = char_at(text, end)) {
    end += c.bytes;
    if (c.newline()) after_newline = end;
  }
  return after_newline > at ? after_newline : space_run(text, at);
}

size_t match_number(std::string_view text, size_t at) {
  const Char c = char_at(text, at);
  return c.is(kNumber) ? at + c.bytes : at;
}

size_t match_numbers(std::string_view text, size_t at) { return run_end(text, at, [](const Char& c) { return c.is(kNumber); }); }

size_t match_punctuation(std::string_view text, size_t at) {
  return run_end(text, at, [](const Char& c) {
    return c.is(kPunctuation) || (c.point < 128 && std::string_view("$+<=>^~|").find(char(c.point)) != std::string_view::npos);
  });
}

size_t match_three_digits(std::string_view text, size_t at) {
  for (size_t i = at; i < at + 3; ++i)
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return at;
  return at + 3;
}

// The end of a match at `at`, or `at` itself when there is none.
using Matcher = size_t (*)(std::string_view text, size_t at);

// Applies the passes one after another, each to the pieces the one before left. A piece is a text of its own: nothing looks beyond it.
void split_passes(const Matcher* pass, const Matcher* end_of_passes, std::string_view text, size_t base, std::vector<size_t>& ends) {
  if (text.empty()) return;
  if (pass == end_of_passes) return ends.push_back(base + text.size());
  size_t between = 0;  // start of the text not matched so far
  for (size_t at = 0; at < text.size();) {
    const size_t end = (*pass)(text, at);
    if (end == at) {
      at += decode_utf8(text, at).bytes;
      continue;
    }
    split_passes(pass + 1, end_of_passes, text.substr(between, at - between), base + between, ends);
    split_passes(pass + 1, end_of_passes, text.substr(at, end - at), base + at, ends);
    between = at = end;
  }
  split_passes(pass + 1, end_of_passes, text.substr(between), base + between, ends);
}

template <size_t N>
void split_passes(const Matcher (&passes)[N], std::string_view text, std::vector<size_t>& ends) {
  split_passes(passes, passes + N, text, 0, ends);
}

constexpr Matcher kGpt2[] = {match_gpt2};
constexpr Matcher kQwen2[] = {[](std::string_view t, size_t at) { return match_qwen2(t, at, kLetter, 1); }};
constexpr Matcher kQwen35[] = {[](std::string_view t, size_t at) { return match_qwen2(t, at, kLetter | kMark, 1); }};
constexpr Matcher kLlama3[] = {[](std::string_view t, size_t at) { return match_qwen2(t, at, kLetter, 3); }};
constexpr Matcher kSmollm[] = {match_number, match_gpt2};
constexpr Matcher kGeneral[] = {match_punctuation, match_gpt2, match_numbers, match_three_digits};

struct Name { std::string_view name; SplitRule rule; bool ignore_merges; };
constexpr Name kNames[] = {
    {"qwen2", SplitRule::qwen2, false},       {"deepseek-r1-qwen", SplitRule::qwen2, false}, {"kormo", SplitRule::qwen2, false},
    {"openpangu", SplitRule::qwen2, false},   {"f2llmv2", SplitRule::qwen2, false},          {"qwen35", SplitRule::qwen35, false},
    {"llama-bpe", SplitRule::llama3, true},   {"llama3", SplitRule::llama3, true},           {"llama-v3", SplitRule::llama3, true},
    {"falcon3", SplitRule::llama3, true},     {"falcon-h1", SplitRule::llama3, true},        {"pixtral", SplitRule::llama3, true},
    {"midm-2.0", SplitRule::llama3, true},    {"lfm2", SplitRule::llama3, true},             {"gpt-2", SplitRule::gpt2, false},
    {"phi-2", SplitRule::gpt2, false},        {"jina-es", SplitRule::gpt2, false},           {"jina-de", SplitRule::gpt2, false},
    {"mellum", SplitRule::gpt2, false},       {"modern-bert", SplitRule::gpt2, false},       {"smollm", SplitRule::smollm, false},
    {"default", SplitRule::general, false},   {"", SplitRule::general, false},
};

}  // namespace

Pretokenizer find_pretokenizer(std::string_view name) {
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames), [&](const Name& n) { return n.name == name; });
  if (found == std::end(kNames)) return {SplitRule::general, false, false};
  return {found->rule, found->ignore_merges, true};
}

void split_text(SplitRule rule, std::string_view text, std::vector<size_t>& ends) {
  switch (rule) {
    case SplitRule::gpt2: return split_passes(kGpt2, text, ends);
    case SplitRule::qwen2: return split_passes(kQwen2, text, ends);
    case SplitRule::qwen35: return split_passes(kQwen35, text, ends);
    case SplitRule::llama3: return split_passes(kLlama3, text, ends);
    case SplitRule::smollm: return split_passes(kSmollm, text, ends);
    case SplitRule::general: return split_passes(kGeneral, text, ends);
  }
}

}  // namespace outrider
