#include "draft/vocabulary_map.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace outrider {
namespace {

// What decides that two tokens are the same: the bytes, behind a mark for control tokens. Empty: the same as none.
std::vector<std::string> keys_of(const Vocabulary& v) {
  std::vector<std::string> keys(v.size());
  for (size_t id = 0; id < v.size(); ++id) {
    if (v.is_padding(TokenId(id)) || v.types[id] == TokenType::unknown) continue;
    const std::string bytes = token_bytes(v, TokenId(id));
    if (!bytes.empty()) keys[id] = (v.types[id] == TokenType::control ? '!' : '=') + bytes;
  }
  return keys;
}

// By the ids of `from`: the same id where it means the same, else the first that does. SentencePiece has a token for each byte beside
// those of texts with one; what a text is made of comes before them.
std::vector<TokenId> ids_in(const Vocabulary& to, const std::vector<std::string>& to_keys, const std::vector<std::string>& from_keys) {
  std::unordered_map<std::string_view, TokenId> first;
  for (const bool bytes : {false, true})
    for (size_t id = 0; id < to_keys.size(); ++id)
      if (!to_keys[id].empty() && bytes == (to.types[id] == TokenType::byte)) first.emplace(to_keys[id], TokenId(id));
  std::vector<TokenId> ids(from_keys.size(), -1);
  for (size_t id = 0; id < ids.size(); ++id) {
    if (from_keys[id].empty()) continue;
    if (id < to_keys.size() && to_keys[id] == from_keys[id]) ids[id] = TokenId(id);
    else if (const auto found = first.find(from_keys[id]); found != first.end()) ids[id] = found->second;
  }
  return ids;
}

size_t known(const std::vector<TokenId>& ids) { return ids.size() - size_t(std::count(ids.begin(), ids.end(), -1)); }

bool is_identity(const Vocabulary& v, const std::vector<std::string>& keys, const std::vector<std::string>& other) {
  for (size_t id = 0; id < v.size(); ++id) {
    if (v.is_padding(TokenId(id))) continue;
    if (id >= other.size() || keys[id] != other[id]) return false;
  }
  return true;
}

std::string part(size_t some, size_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " (" + std::to_string(all > 0 ? 100 * some / all : 0) + " %)";
}

}  // namespace

VocabularyMap map_vocabularies(const Vocabulary& target, const Vocabulary& drafter) {
  const auto target_keys = keys_of(target), drafter_keys = keys_of(drafter);
  VocabularyMap map;
  map.to_target = ids_in(target, target_keys, drafter_keys);
  map.to_drafter = ids_in(drafter, drafter_keys, target_keys);
  map.target_known = known(map.to_drafter), map.drafter_known = known(map.to_target);
  map.identical = is_identity(target, target_keys, drafter_keys) && is_identity(drafter, drafter_keys, target_keys);
  if (map.identical) map.words = "the same " + std::to_string(target.real_tokens) + " tokens";
  else map.words = "different vocabularies: " + part(map.drafter_known, drafter.real_tokens) + " tokens of the drafter are the target's, " +
                   part(map.target_known, target.real_tokens) + " of the target's the drafter's";
  return map;
}

}  // namespace outrider
