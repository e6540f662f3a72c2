#pragma once
// What a model file says about its tokens: texts, types, special ids, chat templates. How text becomes tokens is the text floor's business.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "gguf/file.h"

namespace outrider {

enum class VocabularyKind { bpe, spm };  // byte-level BPE ("gpt2") and SentencePiece ("llama") in the file

enum class TokenType : uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
std::string_view token_type_name(TokenType type);

struct Vocabulary {
  VocabularyKind kind = VocabularyKind::bpe;
  std::string pre;                  // name of the pre-tokenizer; empty when the file gives none
  std::vector<std::string> texts;   // as in the file: byte-level or with U+2581 for spaces
  std::vector<TokenType> types;     // tokens that end a generation are control, whatever the file says
  std::vector<float> scores;        // spm: one per token; bpe: empty
  std::vector<std::string> merges;  // bpe: "A B", in order of rank
  std::optional<TokenId> bos, eos, eot, unk, pad;
  bool add_bos = false, add_eos = false, add_space_prefix = false;
  std::string chat_template;        // empty when the file has none
  std::map<std::string, std::string> named_templates;
  std::vector<TokenId> end_ids;     // ascending: every token that ends a generation
  size_t real_tokens = 0;           // tokens that are not padding

  size_t size() const { return texts.size(); }
  bool contains(TokenId id) const { return id >= 0 && size_t(id) < texts.size(); }
  // Rows of the matrices that no text uses: they must never be sampled.
  bool is_padding(TokenId id) const { return padding_[size_t(id)]; }
  bool ends_generation(TokenId id) const;
  std::optional<TokenId> find(std::string_view text) const;  // slow; for set-up and tests

  std::vector<bool> padding_;  // filled by read_vocabulary
};

Result<Vocabulary> read_vocabulary(const GgufFile& file);

// What a token prints as; nothing for padding. Byte-level texts with characters that stand for no byte are printed as they are.
std::string token_bytes(const Vocabulary& vocabulary, TokenId id);

struct VocabularyComparison {
  bool compatible = false;
  std::string difference;  // empty when compatible; else one line with both sizes and the first ids that differ
};

// Two models can share token ids when their real tokens agree by id, text and type. Padding may differ in number.
VocabularyComparison compare_vocabularies(const Vocabulary& target, const Vocabulary& draft);

}  // namespace outrider
