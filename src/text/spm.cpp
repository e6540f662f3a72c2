#include "text/spm.h"

#include <charconv>
#include <queue>

#include "text/utf8.h"

namespace outrider {
namespace {

constexpr std::string_view kSpaceMark = "\xe2\x96\x81";  // U+2581, how the vocabulary writes a space
constexpr size_t kMaxCrossing = 64;                      // with more of them, words are not told apart

struct Node { uint32_t begin, bytes; int32_t previous, next; };

// Higher score first, then the leftmost. `bytes` tells whether either side has changed since.
struct Candidate {
  float score;
  int32_t left, right;
  uint32_t bytes;
  bool operator<(const Candidate& other) const { return score != other.score ? score < other.score : left > other.left; }
};

// Where a space mark follows something else.
std::vector<size_t> borders_of(std::string_view text) {
  std::vector<size_t> borders;
  for (size_t at = text.find(kSpaceMark, 1); at != std::string_view::npos; at = text.find(kSpaceMark, at + 1))
    if (!text.substr(0, at).ends_with(kSpaceMark)) borders.push_back(at);
  return borders;
}

}  // namespace

SpmEncoder::SpmEncoder(const Vocabulary& vocabulary) : unknown_(vocabulary.unk) {
  byte_ids_.fill(-1);
  pieces_.reserve(vocabulary.size());
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& text = vocabulary.texts[id];
    const TokenType type = vocabulary.types[id];
    if (type == TokenType::byte) {
      uint8_t byte = 0;
      std::from_chars(text.data() + 3, text.data() + 5, byte, 16);  // "<0xHH>", checked when the vocabulary was read
      byte_ids_[byte] = TokenId(id);
      continue;
    }
    // Control tokens are only ever found as such; joining letters must not make one.
    if (text.empty() || type == TokenType::control || type == TokenType::unknown || vocabulary.is_padding(TokenId(id))) continue;
    pieces_[text] = {TokenId(id), vocabulary.scores[id]};
    if (auto borders = borders_of(text); !borders.empty()) crossing_.push_back({text, std::move(borders)});
  }
}

bool SpmEncoder::splits_at(std::string_view text, size_t at) const {
  if (text.substr(0, at).ends_with(kSpaceMark)) return false;
  for (const Crossing& token : crossing_)
    for (size_t border : token.borders)
      if (border <= at && text.substr(at - border, token.text.size()) == token.text) return false;
  return true;
}

void SpmEncoder::encode(std::string_view text, bool space_prefix, WordCache& cache, std::vector<TokenId>& out) const {
  if (text.empty()) return;
  std::string marked(space_prefix ? kSpaceMark : "");
  marked.reserve(text.size() * 5 / 4);
  for (char c : text) {
    if (c == ' ') marked += kSpaceMark;
    else marked += c;
  }
  const std::string_view whole = marked;
  for (size_t begin = 0; begin < whole.size();) {
    size_t end = crossing_.size() > kMaxCrossing ? std::string_view::npos : whole.find(kSpaceMark, begin + 1);
    while (end != std::string_view::npos && !splits_at(whole, end)) end = whole.find(kSpaceMark, end + 1);
    const std::string_view word = whole.substr(begin, end == std::string_view::npos ? end : end - begin);
    begin += word.size();
    cache.encode(word, out, [this](std::string_view fresh, std::vector<TokenId>& ids) { merge_word(fresh, ids); });
  }
}

void SpmEncoder::merge_word(std::string_view word, std::vector<TokenId>& out) const {
  std::vector<Node> nodes;
  nodes.reserve(word.size());
  for (size_t at = 0; at < word.size();) {
    const uint32_t bytes = decode_utf8(word, at).bytes;
    const auto i = int32_t(nodes.size());
    nodes.push_back({uint32_t(at), bytes, i - 1, at + bytes < word.size() ? i + 1 : -1});
    at += bytes;
  }
  std::priority_queue<Candidate> queue;
  const auto consider = [&](int32_t left) {
    if (left < 0 || nodes[size_t(left)].next < 0) return;
    const Node &a = nodes[size_t(left)], &b = nodes[size_t(a.next)];
    const auto found = pieces_.find(word.substr(a.begin, a.bytes + b.bytes));
    if (found != pieces_.end()) queue.push({found->second.score, left, a.next, a.bytes + b.bytes});
  };
  for (size_t i = 0; i + 1 < nodes.size(); ++i) consider(int32_t(i));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Node &left = nodes[size_t(best.left)], &right = nodes[size_t(best.right)];
    if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != best.bytes) continue;  // merged away meanwhile
    left.bytes += right.bytes, left.next = right.next;
    right.bytes = 0;
    if (left.next >= 0) nodes[size_t(left.next)].previous = best.left;
    consider(left.previous);
    consider(best.left);
  }
  for (int32_t i = nodes.empty() ? -1 : 0; i >= 0; i = nodes[size_t(i)].next)
    emit(word.substr(nodes[size_t(i)].begin, nodes[size_t(i)].bytes), out);
}

void SpmEncoder::emit(std::string_view symbol, std::vector<TokenId>& out) const {
  if (const auto found = pieces_.find(symbol); found != pieces_.end()) return out.push_back(found->second.id);
  for (char c : symbol) {
    const TokenId id = byte_ids_[static_cast<unsigned char>(c)];
    if (id >= 0) out.push_back(id);
    else if (unknown_) out.push_back(*unknown_);
  }
}

}  // namespace outrider
