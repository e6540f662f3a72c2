#include "text/specials.h"

#include <algorithm>

namespace outrider {
namespace {

constexpr size_t kMaxSpecialBytes = 512;  // longer «special tokens» are not looked for: real ones have a few dozen bytes

bool lies_within(const std::vector<SpecialTokens::Allowed>& allowed, size_t begin, size_t end) {
  const auto after = std::upper_bound(allowed.begin(), allowed.end(), begin, [](size_t at, const auto& a) { return at < a.begin; });
  return after != allowed.begin() && end <= std::prev(after)->end;
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) : trie_(1), roots_(256, 0) {
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const TokenType type = vocabulary.types[id];
    const bool restricted = type == TokenType::control || type == TokenType::unknown;
    if (!restricted && type != TokenType::user_defined) continue;
    const std::string& text = vocabulary.texts[id];
    if (!text.empty() && text.size() <= kMaxSpecialBytes) specials_.push_back({text, TokenId(id), restricted});
  }
  std::stable_sort(specials_.begin(), specials_.end(), [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
  for (size_t s = 0; s < specials_.size(); ++s) {
    uint32_t node = 0;
    for (char c : specials_[s].text) {
      auto& children = trie_[node].children;
      const auto known = std::find_if(children.begin(), children.end(), [&](const auto& child) { return child.first == uint8_t(c); });
      if (known != children.end()) { node = known->second; continue; }
      const auto next = uint32_t(trie_.size());
      children.emplace_back(uint8_t(c), next);
      trie_.emplace_back();
      node = next;
    }
    trie_[node].special = int32_t(s);
  }
  for (const auto& [byte, node] : trie_[0].children) roots_[byte] = node;
}

// Which special tokens occur in the text at all: one walk, so that the thousands that do not cost nothing.
std::vector<bool> SpecialTokens::occurring(std::string_view text) const {
  std::vector<bool> found(specials_.size(), false);
  for (size_t at = 0; at < text.size(); ++at) {
    uint32_t node = roots_[static_cast<unsigned char>(text[at])];
    for (size_t i = at + 1; node; ++i) {
      if (trie_[node].special >= 0) found[size_t(trie_[node].special)] = true;
      uint32_t next = 0;
      if (i < text.size())
        for (const auto& [byte, child] : trie_[node].children)
          if (byte == static_cast<unsigned char>(text[i])) { next = child; break; }
      node = next;
    }
  }
  return found;
}

// Splits the ordinary fragments around every occurrence of one token.
void SpecialTokens::cut(const Special& special, std::string_view text, const std::vector<Allowed>& allowed, std::vector<Fragment>& fragments) const {
  std::vector<Fragment> out;
  for (const Fragment& fragment : fragments) {
    if (fragment.token >= 0) { out.push_back(fragment); continue; }
    const std::string_view here = text.substr(0, fragment.end);
    size_t begin = fragment.begin;
    for (size_t at = here.find(special.text, begin); at != std::string_view::npos;) {
      const size_t end = at + special.text.size();
      if (special.restricted && !lies_within(allowed, at, end)) { at = here.find(special.text, at + 1); continue; }
      if (at > begin) out.push_back({begin, at, -1});
      out.push_back({at, end, special.id});
      begin = end;
      at = here.find(special.text, begin);
    }
    if (begin < fragment.end) out.push_back({begin, fragment.end, -1});
  }
  fragments = std::move(out);
}

std::vector<SpecialTokens::Fragment> SpecialTokens::partition(std::string_view text, const std::vector<Allowed>& allowed) const {
  if (text.empty()) return {};
  std::vector<Fragment> fragments{{0, text.size(), -1}};
  const std::vector<bool> found = occurring(text);
  for (size_t s = 0; s < specials_.size(); ++s)
    if (found[s] && !(specials_[s].restricted && allowed.empty())) cut(specials_[s], text, allowed, fragments);
  return fragments;
}

}  // namespace outrider
