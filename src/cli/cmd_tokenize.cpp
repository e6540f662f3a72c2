// outrider tokenize, outrider template: what the model gets to see.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/prompting.h"
#include "cli/terminal.h"

namespace outrider::cli {

namespace {

// A token's bytes as text for people: control tokens shown, bytes that are no character replaced.
nlohmann::ordered_json piece_json(const Tokenizer& tokenizer, TokenId id) { return std::string(tokenizer.piece(id, true)); }

struct Input {
  std::string text;
  Vocabulary vocabulary;
  std::unique_ptr<Tokenizer> tokenizer;
};

// The text of a call and the vocabulary of its model.
Result<Input> read_input(Values& values) {
  const auto path = model_path(values);
  if (!path) return path.error();
  auto text = prompt_text(values);
  if (!text) return text.error();
  if (!*text) return Error{"no text given", "give it with -p TEXT or -f FILE", ErrorKind::usage};
  Input input;
  input.text = std::move(**text);
  auto tokenizer = load_tokenizer(*path, input.vocabulary);
  if (!tokenizer) return tokenizer.error();
  input.tokenizer = std::move(*tokenizer);
  return input;
}

}  // namespace

int cmd_tokenize(Values values) {
  const auto input = read_input(values);
  if (!input) return report(input.error());
  const auto ids = input->tokenizer->encode(input->text, {.parse_special = !values.flag("plain"), .add_special = !values.flag("no-bos")});
  std::string out;
  if (values.flag("json")) {
    nlohmann::ordered_json j;
    j["ids"] = ids;
    j["pieces"] = nlohmann::ordered_json::array();
    for (const TokenId id : ids) j["pieces"].push_back(piece_json(*input->tokenizer, id));
    out = j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  } else {
    for (const TokenId id : ids) out += std::to_string(id) + "\t" + piece_json(*input->tokenizer, id).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return print(out);
}

int cmd_template(Values values) {
  const auto input = read_input(values);
  if (!input) return report(input.error());
  warn_without_template(input->vocabulary);
  std::vector<Message> messages;
  if (!values.text("system").empty()) messages.push_back({.role = "system", .content = values.text("system")});
  messages.push_back({.role = "user", .content = input->text});
  const auto rendered = render_messages(input->vocabulary, *input->tokenizer, messages);
  if (!rendered) return report(rendered.error());
  return print(*rendered);
}

}  // namespace outrider::cli
