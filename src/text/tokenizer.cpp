#include "text/tokenizer.h"

#include <mutex>
#include <optional>

#include "base/check.h"
#include "text/bpe.h"
#include "text/pretokenizer.h"
#include "text/specials.h"
#include "text/spm.h"

namespace outrider {

struct Tokenizer::State {
  explicit State(const Vocabulary& v) : specials(v), bos(v.bos), eos(v.eos), add_bos(v.add_bos), add_eos(v.add_eos), add_space_prefix(v.add_space_prefix) {
    if (v.kind == VocabularyKind::bpe) bpe.emplace(v, find_pretokenizer(v.pre));
    else spm.emplace(v);
    for (size_t id = 0; id < v.size(); ++id) {
      bytes += token_bytes(v, TokenId(id));
      ends.push_back(bytes.size());
      hidden.push_back(v.types[id] == TokenType::control || v.types[id] == TokenType::unknown);
    }
  }

  void encode_fragment(std::string_view text, bool after_special, WordCache& words, std::vector<TokenId>& out) const {
    if (bpe) bpe->encode(text, words, out);
    else spm->encode(text, add_space_prefix && after_special, words, out);
  }

  SpecialTokens specials;
  std::optional<BpeEncoder> bpe;
  std::optional<SpmEncoder> spm;
  std::optional<TokenId> bos, eos;
  bool add_bos, add_eos, add_space_prefix;
  std::string bytes;            // the pieces of all tokens, one after another
  std::vector<size_t> ends;
  std::vector<bool> hidden;     // printed only on request
  mutable std::mutex cache_mutex;
  mutable WordCache cache;      // of whichever caller holds the mutex; others start with an empty one
};

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::make(const Vocabulary& vocabulary) {
  if (vocabulary.kind == VocabularyKind::bpe && !find_pretokenizer(vocabulary.pre).known)
    return Error{"key 'tokenizer.ggml.pre' names the pre-tokenizer '" + printable(vocabulary.pre) + "', which is not known here: its text would be split wrongly",
                 "known: qwen2, qwen35, llama-bpe, gpt-2, smollm, default, and others that equal one of these"};
  return Tokenizer(std::make_unique<State>(vocabulary));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  const TextSegment whole{text, options.parse_special};
  return encode(std::span(&whole, 1), options.add_special);
}

std::vector<TokenId> Tokenizer::encode(std::span<const TextSegment> segments, bool add_special) const {
  std::string joined;
  std::vector<SpecialTokens::Allowed> allowed;
  for (const TextSegment& segment : segments) {
    const size_t begin = joined.size();
    if (segments.size() > 1) joined += segment.text;
    const size_t end = begin + segment.text.size();
    if (!segment.specials_allowed || begin == end) continue;
    if (!allowed.empty() && allowed.back().end == begin) allowed.back().end = end;
    else allowed.push_back({begin, end});
  }
  const std::string_view text = segments.size() == 1 ? segments[0].text : std::string_view(joined);

  std::unique_lock lock(state_->cache_mutex, std::try_to_lock);
  WordCache own;
  WordCache& words = lock.owns_lock() ? state_->cache : own;
  std::vector<TokenId> ids;
  bool after_special = true;  // so does the start count
  for (const auto& fragment : state_->specials.partition(text, allowed)) {
    if (fragment.token >= 0) ids.push_back(fragment.token);
    else state_->encode_fragment(text.substr(fragment.begin, fragment.end - fragment.begin), after_special, words, ids);
    after_special = fragment.token >= 0;
  }
  if (!add_special) return ids;
  if (state_->add_bos && (ids.empty() || ids.front() != *state_->bos)) ids.insert(ids.begin(), *state_->bos);
  if (state_->add_eos && ids.back() != *state_->eos) ids.push_back(*state_->eos);
  return ids;
}

std::string_view Tokenizer::piece(TokenId id, bool special) const {
  OUTRIDER_CHECK(id >= 0 && size_t(id) < state_->ends.size());
  if (state_->hidden[size_t(id)] && !special) return {};
  const size_t begin = id == 0 ? 0 : state_->ends[size_t(id) - 1];
  return std::string_view(state_->bytes).substr(begin, state_->ends[size_t(id)] - begin);
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool special) const {
  std::string out;
  bool at_start = state_->add_space_prefix;  // encoding put a space before the first ordinary token
  for (TokenId id : ids) {
    std::string_view text = piece(id, special);
    if (at_start && !state_->hidden[size_t(id)]) {
      if (text.starts_with(' ')) text.remove_prefix(1);
      at_start = false;
    }
    out += text;
  }
  return out;
}

size_t Tokenizer::size() const { return state_->ends.size(); }

}  // namespace outrider
