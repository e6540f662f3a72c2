#pragma once
// From what a person typed to a Request: chat template, tokens, sampling settings.
#include <string>
#include <vector>

#include "chat/messages.h"
#include "cli/options.h"
#include "cli/runtime.h"

namespace outrider::cli {

// The conversation as the model's template writes it. Control tokens come only from the template.
Result<std::vector<TokenId>> encode_messages(const Vocabulary& vocabulary, const Tokenizer& tokenizer, std::span<const Message> messages);
// The same as text.
Result<std::string> render_messages(const Vocabulary& vocabulary, const Tokenizer& tokenizer, std::span<const Message> messages);
// A base model has no template: says what stands in for it.
void warn_without_template(const Vocabulary& vocabulary);
// --raw: the text as it is, control tokens in it included.
std::vector<TokenId> encode_raw(const Tokenizer& tokenizer, const std::string& text);

// Options of the user before the model file's advice before our defaults; a random seed where none is given.
Result<SamplingSettings> sampling_settings(const Values& values, const Model& model);

// The text of --prediction as far as a context may reach into it; empty without.
struct Prediction {
  std::string text;
  bool cut = false;  // the file goes on
};
Result<Prediction> read_prediction(const Values& values);
// Its tokens, no more than the context holds; warns of what is left out.
std::vector<TokenId> encode_prediction(const Tokenizer& tokenizer, const Prediction& prediction, int64_t context);

// -i, or nobody to get a prompt from but a terminal.
bool wants_chat(const Values& values);
// The prompt text of a call: -p (or words in its place), -f, or standard input when it is no terminal. None where there is only a person to ask.
Result<std::optional<std::string>> prompt_text(const Values& values);

}  // namespace outrider::cli
