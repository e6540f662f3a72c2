#include "draft/translator.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/check.h"

namespace outrider {
namespace {

// The drafter's tokens by their bytes, control tokens left out: text must never spell one.
class Speller {
 public:
  explicit Speller(const Vocabulary& drafter) {
    for (size_t id = 0; id < drafter.size(); ++id) {
      if (drafter.is_padding(TokenId(id)) || drafter.types[id] == TokenType::unknown || drafter.types[id] == TokenType::control) continue;
      std::string bytes = token_bytes(drafter, TokenId(id));
      if (bytes.empty() || bytes.size() > kLongest) continue;
      ids_.emplace(std::move(bytes), TokenId(id));
    }
  }

  // False when some byte has no token, or there are too many.
  bool spell(std::string_view bytes, std::vector<int32_t>& out) const {
    const size_t before = out.size();
    while (!bytes.empty() && out.size() - before < Translator::kMostPieces) {
      size_t length = std::min(bytes.size(), kLongest);
      auto found = ids_.end();
      while (length > 0 && (found = ids_.find(std::string(bytes.substr(0, length)))) == ids_.end()) --length;
      if (length == 0) break;
      out.push_back(found->second);
      bytes.remove_prefix(length);
    }
    if (!bytes.empty()) out.resize(before);
    return bytes.empty();
  }

 private:
  static constexpr size_t kLongest = 32;  // bytes
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace

Translator::Translator(const VocabularyMap& map, const Vocabulary& target, const Vocabulary& drafter, int64_t target_rows)
    : target_rows_(target_rows), to_target_(map.to_target) {
  const Speller speller(drafter);
  first_.reserve(target.size() + 1), pieces_.reserve(2 * target.size());
  for (size_t id = 0; id < target.size(); ++id) {
    first_.push_back(uint32_t(pieces_.size()));
    if (target.is_padding(TokenId(id))) target_padding_.push_back(int32_t(id));
    else if (map.to_drafter[id] >= 0) pieces_.push_back(map.to_drafter[id]);
    else if (target.types[id] != TokenType::control) speller.spell(token_bytes(target, TokenId(id)), pieces_);
  }
  first_.push_back(uint32_t(pieces_.size()));
  for (int64_t id = int64_t(target.size()); id < target_rows; ++id) target_padding_.push_back(int32_t(id));
  if (drafter.add_bos && drafter.bos) opening_ = *drafter.bos;
}

std::unique_ptr<const Translator> Translator::between(const Vocabulary& target, const Vocabulary& drafter, int64_t target_rows) {
  if (compare_vocabularies(target, drafter).compatible) return nullptr;
  return std::make_unique<const Translator>(target, drafter, target_rows);
}

size_t Translator::bytes(const Vocabulary& target, const Vocabulary& drafter) { return 4 * (5 * target.size() + drafter.size()); }

std::span<const int32_t> Translator::read(int32_t token) const {
  if (token < 0 || size_t(token) + 1 >= first_.size()) return {};
  const auto first = first_[size_t(token)];
  return std::span(pieces_).subspan(first, first_[size_t(token) + 1] - first);
}

std::vector<int32_t> Translator::open(std::span<const int32_t> tokens, int64_t context) const {
  std::vector<int32_t> text;
  text.reserve(2 * size_t(context));
  if (opening_ >= 0) text.push_back(opening_);
  for (const int32_t token : tokens) append(token, text);
  if (text.size() > 1 && text[0] == opening_ && text[1] == opening_) text.erase(text.begin());
  return text;
}

void Translator::append(int32_t token, std::vector<int32_t>& text) const {
  const auto own = read(token);
  text.insert(text.end(), own.begin(), own.end());
}

void Translator::scatter(std::span<const float> logits, std::span<float> row) const {
  OUTRIDER_CHECK(int64_t(row.size()) == target_rows_);
  std::ranges::fill(row, -std::numeric_limits<float>::infinity());
  for (size_t id = 0; id < std::min(logits.size(), to_target_.size()); ++id)
    if (const int32_t to = to_target_[id]; to >= 0) row[size_t(to)] = std::max(row[size_t(to)], logits[id]);
}

}  // namespace outrider
