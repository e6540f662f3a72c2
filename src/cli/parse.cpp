// The command line, read by CLI11 from the option table. The only file that includes it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <utility>

#include "cli/model_file.h"
#include "cli/nearest.h"
#include "cli/options.h"

namespace outrider::cli {

namespace {

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t at = std::min(text.find(by), text.size());
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return parts;
}

// CLI11 knows neither -ctk (one dash, several letters) nor -n=5, so names with one dash are replaced by the long ones first.
std::string long_form(const std::string& argument, Command command) {
  const std::string name = argument.substr(0, argument.find('='));
  if (name.size() < 2 || name[0] != '-' || name[1] == '-') return argument;
  for (const Option& o : option_table())
    if (o.commands & command)
      for (const std::string& alias : split(o.aliases, ','))
        if (alias == name) return "--" + std::string(o.name) + argument.substr(name.size());
  return argument;
}

bool looks_like_option(const std::string& a) { return a.size() >= 2 && a[0] == '-' && (a[1] == '-' || std::isalpha(static_cast<unsigned char>(a[1]))); }

std::string cli11_names(const Option& o) {
  std::string names;
  for (const std::string& alias : split(o.aliases, ','))
    if (alias.starts_with("--") || alias.size() == 2) names += alias + ",";
  return names + "--" + std::string(o.name);
}

std::string help_hint(const CommandInfo& command) { return "see outrider " + std::string(command.name) + " --help"; }

Error unknown_option(const std::string& argument, const CommandInfo& command) {
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  for (const Option& o : option_table()) {
    if (!(o.commands & command.command)) continue;
    for (const std::string& alias : split(o.aliases, ',')) known.push_back(alias);
    known.push_back("--" + std::string(o.name));
  }
  const std::string best = nearest(name, known, 3);
  return Error{"outrider " + std::string(command.name) + " has no option " + name, best.empty() ? help_hint(command) : "did you mean " + best + "?", ErrorKind::usage};
}

// The command that a first word may have been meant for; "" when it is a file, or like no command.
std::string meant_command(const std::string& word) {
  std::error_code ignored;  // a prompt may be too long for a file's name
  if (looks_like_option(word) || std::filesystem::exists(find_model(word), ignored)) return "";
  std::vector<std::string> names;
  for (const CommandInfo& c : command_table()) names.emplace_back(c.name);
  return nearest(word, names, std::clamp<size_t>(word.size() / 3, 1, 3));
}

// What the environment sets; an empty variable sets nothing.
const char* environment_value(std::string_view option) {
  for (const Option& o : option_table())
    if (o.name == option)
      if (const char* text = std::getenv(environment_name(o).c_str()); text && *text) return text;
  return nullptr;
}

// Words without an option name the model where nothing else does, then the text where neither -p nor -f gives it. Called before
// the environment is read, so that words win over it; only OUTRIDER_MODEL leaves the words of a prompt alone.
Result<void> place_words(const CommandInfo& command, const std::vector<std::string>& words, Values& values) {
  const bool takes_text = command.words == Words::model_and_text && !values.given("prompt") && !values.given("file");
  const bool takes_model = (command.words == Words::model || command.words == Words::model_and_text) && !values.given("model") && !(takes_text && environment_value("model"));
  size_t used = 0;
  if (takes_model && used < words.size()) values.set("model", words[used++], true);
  if (takes_text && used < words.size()) {
    std::string text = words[used++];
    while (used < words.size()) text += " " + words[used++];
    values.set("prompt", text, true);
  }
  if (command.words == Words::shell && used < words.size()) values.shell = words[used++];
  if (used == words.size()) return {};
  return Error{"outrider " + std::string(command.name) + " has no use for the argument «" + words[used] + "»",
               command.words == Words::model_and_text ? "put a text of several words in quotes" : help_hint(command), ErrorKind::usage};
}

struct Binding {
  const Option* option;
  CLI::Option* parsed;
  std::vector<std::string> values;
};

void bind(CLI::App& app, const CommandInfo& command, std::deque<Binding>& bindings) {
  for (const Option& o : option_table()) {
    if (!(o.commands & command.command)) continue;
    Binding& b = bindings.emplace_back(Binding{&o, nullptr, {}});
    if (o.kind == Kind::flag) b.parsed = app.add_flag(cli11_names(o));
    else b.parsed = app.add_option(cli11_names(o), b.values)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  }
}

// What CLI11 would refuse in its own words: names that no option has, and an option without its value. Aliases become long names.
Result<void> check_names(const CLI::App& app, const CommandInfo& command, std::vector<std::string>& arguments) {
  const auto takes_value = [](const CLI::Option* option) { return option && option->get_items_expected_max() > 0; };
  const auto no_value = [&](const std::string& name) { return Error{name + " needs a value", help_hint(command), ErrorKind::usage}; };
  std::string waiting;  // the option whose value comes next, which is taken as it is
  for (std::string& a : arguments) {
    if (!std::exchange(waiting, "").empty()) continue;
    if (a == "--") break;
    if (!looks_like_option(a)) continue;
    const std::string as_given = a;
    a = long_form(a, command.command);
    const size_t equals = a.find('=');
    const CLI::Option* option = app.get_option_no_throw(a.substr(0, equals));
    const bool glued = a[1] != '-' && a.size() > 2 && takes_value(app.get_option_no_throw(a.substr(0, 2)));  // -n5
    if (!option && !glued) return unknown_option(as_given, command);
    if (option && equals == a.size() - 1) return no_value(as_given);
    if (takes_value(option) && equals == std::string::npos) waiting = as_given;
  }
  return waiting.empty() ? Result<void>() : no_value(waiting);
}

Result<void> take(const Option& o, const std::string& value, const std::string& source, const CommandInfo& command, Values& values) {
  if (auto r = check_value(o, value, source); !r) return Error{r.error().message, help_hint(command), r.error().kind};
  values.set(o.name, value, true);
  return {};
}

// Command line before environment before default.
Result<void> take_all(const std::deque<Binding>& bindings, const std::vector<std::string>& words, const CommandInfo& command, Values& values) {
  for (const Binding& b : bindings)
    for (const std::string& value : b.option->kind == Kind::flag ? b.parsed->results() : b.values)
      if (auto r = take(*b.option, value, "--" + std::string(b.option->name), command, values); !r) return r;
  if (auto r = place_words(command, words, values); !r) return r;
  for (const Binding& b : bindings) {
    const Option& o = *b.option;
    if (values.given(o.name)) continue;
    if (const char* text = environment_value(o.name)) {
      if (auto r = take(o, text, environment_name(o), command, values); !r) return r;
    } else if (!o.fallback.empty()) {
      values.set(o.name, std::string(o.fallback), false);
    }
  }
  return {};
}

}  // namespace

Result<Parsed> parse_arguments(const std::vector<std::string>& given) {
  Parsed result;
  std::vector<std::string> arguments = given;
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help")) {
    result.help = help_text(arguments.size() > 1 ? find_command(arguments[1]) : nullptr);
    return result;
  }
  if (!arguments.empty() && arguments[0] == "--version") arguments[0] = "version";
  const CommandInfo* command = arguments.empty() ? nullptr : find_command(arguments[0]);
  if (command) arguments.erase(arguments.begin());
  else command = find_command("run");
  result.values.command = command->command;
  if (!given.empty() && arguments.size() == given.size())
    if (const std::string meant = meant_command(given[0]); !meant.empty())
      return Error{"there is no command or file «" + given[0] + "»", "did you mean outrider " + meant + "?", ErrorKind::usage};

  CLI::App app;
  app.set_help_flag();
  app.allow_extras(false);
  bool help = false;
  std::vector<std::string> words;
  std::deque<Binding> bindings;
  app.add_flag("-h,--help", help);
  app.add_option("arguments", words);
  bind(app, *command, bindings);
  if (auto r = check_names(app, *command, arguments); !r) return r.error();
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    return Error{std::string(e.what()), help_hint(*command), ErrorKind::usage};
  }
  if (help) result.help = help_text(command);
  else if (auto r = take_all(bindings, words, *command, result.values); !r) return r.error();
  return result;
}

}  // namespace outrider::cli
