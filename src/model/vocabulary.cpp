#include "model/vocabulary.h"

#include <algorithm>
#include <unordered_map>

#include "model/byte_level.h"

namespace outrider {
namespace {

constexpr size_t kMaxTokens = 1u << 21, kMaxMerges = 1u << 22;

// Texts of tokens that end a turn or a text, in the files of the families we know; and of the fill-in-the-middle tokens that no answer goes past.
constexpr std::string_view kEndTexts[] = {"<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>",
                                          "<EOT>", "<|end_of_text|>", "<eos>",
                                          "<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<|repo_name|>", "<fim-repo>", "<reponame>", "<|file_sep|>"};
// Texts that mark the end of a turn, in order of preference, for files without eot_token_id.
constexpr std::string_view kTurnEndTexts[] = {"<|im_end|>", "<end_of_turn>", "<|eot_id|>", "<|end|>", "<EOT>", "<|endoftext|>"};

// Pre-tokenizers whose models want a BOS where the file does not say.
constexpr std::string_view kBosFamily[] = {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"};

std::string where(const GgufFile& file) { return "'" + file.path() + "': "; }

bool is_padding_text(std::string_view text) {
  if (!text.starts_with("[PAD") || !text.ends_with("]") || text.size() < 6) return false;
  text = text.substr(4, text.size() - 5);
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_byte_text(std::string_view text) {
  return text.size() == 6 && text.starts_with("<0x") && text[5] == '>' && text.substr(3, 2).find_first_not_of("0123456789ABCDEFabcdef") == std::string_view::npos;
}

// Reads tokens, types and scores and checks that they belong together.
Result<void> read_tokens(const GgufFile& file, Vocabulary& v) {
  const auto texts = file.strings("tokenizer.ggml.tokens");
  if (!texts) return texts.error();
  if (texts->empty() || texts->size() > kMaxTokens)
    return Error{where(file) + "key 'tokenizer.ggml.tokens' holds " + std::to_string(texts->size()) + " tokens; 1 to " + std::to_string(kMaxTokens) + " are possible", ""};
  v.texts.assign(texts->begin(), texts->end());
  v.types.assign(v.size(), TokenType::normal);
  if (file.has("tokenizer.ggml.token_type")) {
    const auto types = file.integers("tokenizer.ggml.token_type");
    if (!types) return types.error();
    if (types->size() != v.size())
      return Error{where(file) + "there are " + std::to_string(v.size()) + " tokens but " + std::to_string(types->size()) + " token types", "the file is damaged; convert the model again"};
    for (size_t i = 0; i < v.size(); ++i) {
      const int64_t type = (*types)[i];
      if (type < 1 || type > 6) {
        if (type == 0) continue;  // undefined: taken as normal
        return Error{where(file) + "token " + std::to_string(i) + " has unknown type " + std::to_string(type), "the file is damaged; convert the model again"};
      }
      v.types[i] = TokenType(type);
      if (v.types[i] == TokenType::byte && !is_byte_text(v.texts[i]))
        return Error{where(file) + "token " + std::to_string(i) + " is a byte but its text is '" + printable(v.texts[i]) + "' instead of <0x00> to <0xFF>",
                     "the file is damaged; convert the model again"};
    }
  }
  v.padding_.resize(v.size());
  for (size_t i = 0; i < v.size(); ++i) v.padding_[i] = v.types[i] == TokenType::unused || is_padding_text(v.texts[i]);
  v.real_tokens = size_t(std::count(v.padding_.begin(), v.padding_.end(), false));
  return {};
}

Result<void> read_merges_or_scores(const GgufFile& file, Vocabulary& v) {
  if (v.kind == VocabularyKind::spm) {
    auto scores = file.numbers("tokenizer.ggml.scores");
    if (!scores) return scores.error();
    if (scores->size() != v.size())
      return Error{where(file) + "there are " + std::to_string(v.size()) + " tokens but " + std::to_string(scores->size()) + " scores", "the file is damaged; convert the model again"};
    if (std::any_of(scores->begin(), scores->end(), [](float s) { return s != s; })) return Error{where(file) + "a token's score is not a number", ""};
    v.scores = std::move(*scores);
    return {};
  }
  const auto merges = file.strings("tokenizer.ggml.merges");
  if (!merges) return merges.error();
  if (merges->size() > kMaxMerges) return Error{where(file) + "key 'tokenizer.ggml.merges' holds " + std::to_string(merges->size()) + " merges", ""};
  for (size_t i = 0; i < merges->size(); ++i) {
    const size_t space = (*merges)[i].find(' ', 1);  // the first part may itself begin with a space
    if (space == std::string_view::npos || space + 1 >= (*merges)[i].size())
      return Error{where(file) + "merge " + std::to_string(i) + " is '" + printable((*merges)[i]) + "' instead of two texts with a space between them", ""};
  }
  v.merges.assign(merges->begin(), merges->end());
  return {};
}

// A special id: from its key, else `otherwise` if there is such a token.
Result<std::optional<TokenId>> read_id(const GgufFile& file, const Vocabulary& v, const std::string& name, std::optional<TokenId> otherwise = {}) {
  const std::string key = "tokenizer.ggml." + name + "_token_id";
  if (!file.has(key)) return otherwise && v.contains(*otherwise) ? otherwise : std::optional<TokenId>();
  const auto id = file.integer(key);
  if (!id) return id.error();
  if (*id == -1 || *id == 0xffffffff) return std::optional<TokenId>();  // some converters write «none» like this
  if (*id < 0 || uint64_t(*id) >= v.size())
    return Error{where(file) + "key '" + key + "' is " + std::to_string(*id) + ", but there are " + std::to_string(v.size()) + " tokens", "the file is damaged; convert the model again"};
  return std::optional<TokenId>(TokenId(*id));
}

Result<void> read_special_ids(const GgufFile& file, Vocabulary& v) {
  const bool spm = v.kind == VocabularyKind::spm;
  const auto or_spm = [&](TokenId id) { return spm ? std::optional<TokenId>(id) : std::nullopt; };
  const struct { const char* name; std::optional<TokenId>* id; std::optional<TokenId> otherwise; } ids[] = {
      {"bos", &v.bos, or_spm(1)}, {"eos", &v.eos, or_spm(2)}, {"unknown", &v.unk, or_spm(0)}, {"padding", &v.pad, {}}, {"eot", &v.eot, {}}};
  for (const auto& entry : ids) {
    const auto id = read_id(file, v, entry.name, entry.otherwise);
    if (!id) return id.error();
    *entry.id = *id;
  }
  const struct { const char* key; bool* value; bool otherwise; } flags[] = {
      {"tokenizer.ggml.add_bos_token", &v.add_bos, spm || std::find(std::begin(kBosFamily), std::end(kBosFamily), v.pre) != std::end(kBosFamily)},
      {"tokenizer.ggml.add_eos_token", &v.add_eos, false},
      {"tokenizer.ggml.add_space_prefix", &v.add_space_prefix, spm}};
  for (const auto& entry : flags) {
    const auto flag = file.boolean_or(entry.key, entry.otherwise);
    if (!flag) return flag.error();
    *entry.value = *flag;
  }
  if (!v.bos) v.add_bos = false;
  if (!v.eos) v.add_eos = false;
  return {};
}

Result<void> find_end_tokens(const GgufFile& file, Vocabulary& v) {
  std::unordered_map<std::string_view, TokenId> wanted;
  for (std::string_view text : kEndTexts) wanted.emplace(text, -1);
  for (size_t i = 0; i < v.size(); ++i)
    if (const auto found = wanted.find(v.texts[i]); found != wanted.end()) found->second = TokenId(i);
  const auto id_of = [&](std::string_view text) { const auto found = wanted.find(text); return found == wanted.end() ? -1 : found->second; };

  // In one family of formats <|end|> closes a part of a turn, and <|return|> or <|call|> the turn.
  if (id_of("<|return|>") >= 0 && id_of("<|call|>") >= 0) wanted.erase("<|end|>");

  for (std::string_view text : kTurnEndTexts)
    if (!v.eot && id_of(text) >= 0) v.eot = id_of(text);
  for (const auto& [text, id] : wanted)
    if (id >= 0) v.end_ids.push_back(id);
  const auto eom = read_id(file, v, "eom");
  if (!eom) return eom.error();
  for (const auto& id : {v.eos, v.eot, *eom})
    if (id) v.end_ids.push_back(*id);
  std::sort(v.end_ids.begin(), v.end_ids.end());
  v.end_ids.erase(std::unique(v.end_ids.begin(), v.end_ids.end()), v.end_ids.end());
  for (TokenId id : v.end_ids) v.types[size_t(id)] = TokenType::control;
  return {};
}

Result<void> read_templates(const GgufFile& file, Vocabulary& v) {
  const std::string prefix = "tokenizer.chat_template";
  for (const KeyInfo& key : file.keys()) {
    if (key.type != ValueType::string || !key.name.starts_with(prefix)) continue;
    const auto text = file.string(key.name);
    if (!text) return text.error();
    if (key.name == prefix) v.chat_template = std::string(*text);
    else if (key.name[prefix.size()] == '.') v.named_templates[key.name.substr(prefix.size() + 1)] = std::string(*text);
  }
  return {};
}

std::string token_text(const Vocabulary& v, size_t id) {
  if (id >= v.size()) return "nothing";
  return "'" + printable(v.texts[id], 32) + "' (" + std::string(v.is_padding(TokenId(id)) ? "padding" : token_type_name(v.types[id])) + ")";
}

std::string sizes_text(const Vocabulary& v) { return std::to_string(v.size()) + " tokens (" + std::to_string(v.real_tokens) + " real)"; }

}  // namespace

std::string_view token_type_name(TokenType type) {
  constexpr std::string_view kNames[] = {"?", "normal", "unknown", "control", "user-defined", "unused", "byte"};
  return kNames[size_t(type)];
}

bool Vocabulary::ends_generation(TokenId id) const { return std::binary_search(end_ids.begin(), end_ids.end(), id); }

std::optional<TokenId> Vocabulary::find(std::string_view text) const {
  const auto found = std::find(texts.begin(), texts.end(), text);
  if (found == texts.end()) return std::nullopt;
  return TokenId(found - texts.begin());
}

Result<Vocabulary> read_vocabulary(const GgufFile& file) {
  Vocabulary v;
  const auto model = file.string("tokenizer.ggml.model");
  if (!model) return model.error();
  if (*model == "gpt2") v.kind = VocabularyKind::bpe;
  else if (*model == "llama") v.kind = VocabularyKind::spm;
  else return Error{where(file) + "tokenizer '" + printable(*model) + "' is not supported", "supported: gpt2 (byte-level BPE) and llama (SentencePiece)"};
  const auto pre = file.string_or("tokenizer.ggml.pre", "");
  if (!pre) return pre.error();
  v.pre = std::string(*pre);
  for (auto step : {read_tokens, read_merges_or_scores, read_special_ids, find_end_tokens, read_templates})
    if (auto done = step(file, v); !done) return done.error();
  return v;
}

std::string token_bytes(const Vocabulary& v, TokenId id) {
  const std::string& text = v.texts[size_t(id)];
  switch (v.types[size_t(id)]) {
    case TokenType::unused: return "";
    case TokenType::byte: return std::string(1, char(std::stoi(text.substr(3, 2), nullptr, 16)));
    case TokenType::control: case TokenType::unknown: case TokenType::user_defined: return text;
    case TokenType::normal: break;
  }
  if (v.is_padding(id)) return "";
  if (v.kind == VocabularyKind::bpe) return bytes_of_byte_level(text).value_or(text);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool mark = text.compare(at, 3, "\xe2\x96\x81") == 0;
    out += mark ? ' ' : text[at];
    at += mark ? 3 : 1;
  }
  return out;
}

VocabularyComparison compare_vocabularies(const Vocabulary& target, const Vocabulary& draft) {
  constexpr int kShown = 3;
  const std::string sizes = "the target has " + sizes_text(target) + ", the draft " + sizes_text(draft);
  if (target.kind != draft.kind) return {false, sizes + "; one is byte-level BPE, the other SentencePiece"};
  std::string shown;
  size_t differing = 0;
  for (size_t i = 0; i < std::max(target.size(), draft.size()); ++i) {
    const bool in_target = i < target.size() && !target.is_padding(TokenId(i)), in_draft = i < draft.size() && !draft.is_padding(TokenId(i));
    if (!in_target && !in_draft) continue;
    if (in_target && in_draft && target.texts[i] == draft.texts[i] && target.types[i] == draft.types[i]) continue;
    if (differing++ < kShown) shown += (shown.empty() ? "" : ", ") + std::to_string(i) + " is " + token_text(target, i) + " and " + token_text(draft, i);
  }
  if (differing == 0) return {true, ""};
  return {false, sizes + "; " + std::to_string(differing) + " ids differ, first: " + shown};
}

}  // namespace outrider
