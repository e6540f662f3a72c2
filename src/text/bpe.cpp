#include "text/bpe.h"

#include <bit>
#include <queue>

#include "model/byte_level.h"

namespace outrider {
namespace {

// One symbol of a word while it is merged: a doubly linked list in an array, so that a merge costs the same anywhere.
struct Node { uint32_t symbol; int32_t previous, next; };

// A pair that can be merged, as it was when it was queued. Lower rank first, then the leftmost.
struct Candidate {
  uint32_t rank;
  int32_t left;
  uint32_t left_symbol, right_symbol, result;
  bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
};

}  // namespace

void BpeEncoder::MergeTable::reserve(size_t merges) {
  const size_t size = std::bit_ceil(std::max<size_t>(16, merges * 2));
  slots_.assign(size, Slot{});
  shift_ = 64 - std::countr_zero(size);
}

void BpeEncoder::MergeTable::add(SymbolId left, SymbolId right, Merge merge) {
  const uint64_t key = uint64_t(left) << 32 | right;
  size_t i = slot_of(key);
  while (slots_[i].key != kEmpty && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
  if (slots_[i].key == kEmpty) slots_[i] = {key, merge};
}

BpeEncoder::BpeEncoder(const Vocabulary& vocabulary, const Pretokenizer& pretokenizer) : rule_(pretokenizer.rule), token_count_(vocabulary.size()) {
  Ids ids;
  ids.reserve(vocabulary.size());
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    // Control tokens are only ever found as such; merging letters must not make one.
    if (vocabulary.types[id] == TokenType::control || vocabulary.types[id] == TokenType::unknown || vocabulary.is_padding(TokenId(id))) continue;
    if (auto bytes = bytes_of_byte_level(vocabulary.texts[id])) ids[std::move(*bytes)] = SymbolId(id);
  }
  if (pretokenizer.ignore_merges) whole_words_ = ids;
  for (int b = 0; b < 256; ++b) byte_symbols_[size_t(b)] = symbol(std::string(1, char(b)), ids);
  add_merges(vocabulary, ids);
}

BpeEncoder::SymbolId BpeEncoder::symbol(const std::string& bytes, Ids& ids) {
  const auto [entry, is_new] = ids.try_emplace(bytes, SymbolId(token_count_ + extra_symbols_.size()));
  if (is_new) extra_symbols_.push_back(bytes);
  return entry->second;
}

void BpeEncoder::add_merges(const Vocabulary& vocabulary, Ids& ids) {
  merges_.reserve(vocabulary.merges.size());
  for (size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    const std::string& merge = vocabulary.merges[rank];
    const size_t space = merge.find(' ', 1);
    const auto left = bytes_of_byte_level(std::string_view(merge).substr(0, space)), right = bytes_of_byte_level(std::string_view(merge).substr(space + 1));
    if (!left || !right) continue;  // characters that stand for no byte cannot occur in text
    const SymbolId left_id = symbol(*left, ids), right_id = symbol(*right, ids);
    merges_.add(left_id, right_id, {uint32_t(rank), symbol(*left + *right, ids)});
  }
}

void BpeEncoder::encode(std::string_view text, WordCache& cache, std::vector<TokenId>& out) const {
  std::vector<size_t> ends;
  split_text(rule_, text, ends);
  size_t begin = 0;
  for (size_t end : ends) {
    const std::string_view word = text.substr(begin, end - begin);
    begin = end;
    cache.encode(word, out, [this](std::string_view fresh, std::vector<TokenId>& ids) { merge_word(fresh, ids); });
  }
}

void BpeEncoder::merge_word(std::string_view word, std::vector<TokenId>& out) const {
  if (!whole_words_.empty())
    if (const auto found = whole_words_.find(std::string(word)); found != whole_words_.end()) return emit(found->second, out);

  std::vector<Node> nodes(word.size());
  for (size_t i = 0; i < word.size(); ++i)
    nodes[i] = {byte_symbols_[static_cast<unsigned char>(word[i])], int32_t(i) - 1, i + 1 < word.size() ? int32_t(i) + 1 : -1};
  std::priority_queue<Candidate> queue;
  const auto consider = [&](int32_t left) {
    if (left < 0 || nodes[size_t(left)].next < 0) return;
    const uint32_t a = nodes[size_t(left)].symbol, b = nodes[size_t(nodes[size_t(left)].next)].symbol;
    if (const Merge* merge = merges_.find(a, b)) queue.push({merge->rank, left, a, b, merge->result});
  };
  for (size_t i = 0; i + 1 < word.size(); ++i) consider(int32_t(i));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Node& left = nodes[size_t(best.left)];
    if (left.symbol != best.left_symbol || left.next < 0 || nodes[size_t(left.next)].symbol != best.right_symbol) continue;  // merged away meanwhile
    Node& right = nodes[size_t(left.next)];
    left.symbol = best.result, left.next = right.next;
    right.symbol = kNone;
    if (left.next >= 0) nodes[size_t(left.next)].previous = best.left;
    consider(left.previous);
    consider(best.left);
  }
  for (int32_t i = 0; i >= 0 && !nodes.empty(); i = nodes[size_t(i)].next) emit(nodes[size_t(i)].symbol, out);
}

void BpeEncoder::emit(SymbolId id, std::vector<TokenId>& out) const {
  if (id < token_count_) return out.push_back(TokenId(id));
  for (char c : extra_symbols_[id - token_count_]) {
    const SymbolId byte = byte_symbols_[static_cast<unsigned char>(c)];
    if (byte < token_count_) out.push_back(TokenId(byte));
  }
}

}  // namespace outrider
