// The command line, read by CLI11 from the option table. The only file that includes it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <utility>

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

// Options of the form -ctk: one dash, several letters. CLI11 has no such thing, so they are replaced by their long names first.
std::string long_form(const std::string& argument, Command command) {
  const std::string name = argument.substr(0, argument.find('='));
  if (name.size() < 3 || name[0] != '-' || name[1] == '-') return argument;
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

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t cost = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j], row[j] = cost;
    }
  }
  return row.back();
}

Error unknown_option(const std::string& argument, const CommandInfo& command) {
  const std::string name = argument.substr(0, argument.find('='));
  std::string best;
  size_t closest = 4;
  for (const Option& o : option_table()) {
    if (!(o.commands & command.command)) continue;
    std::vector<std::string> names = split(o.aliases, ',');
    names.push_back("--" + std::string(o.name));
    for (const std::string& candidate : names)
      if (const size_t d = distance(name, candidate); d < closest) closest = d, best = candidate;
  }
  const std::string hint = best.empty() ? "see outrider " + std::string(command.name) + " --help" : "did you mean " + best + "?";
  return Error{"outrider " + std::string(command.name) + " has no option " + name, hint, ErrorKind::usage};
}

Result<void> take_environment(const Option& o, Values& values) {
  const char* text = std::getenv(environment_name(o).c_str());
  if (!text || values.given(o.name)) return {};
  const std::string value = o.kind == Kind::flag ? (std::string(text) == "0" || !*text ? "0" : "1") : text;
  if (auto r = check_value(o, value, environment_name(o)); !r) return r;
  values.set(o.name, value, true);
  return {};
}

struct Binding {
  const Option* option;
  CLI::Option* parsed;
  std::vector<std::string> values;
};

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

  CLI::App app;
  app.set_help_flag();
  app.allow_extras(false);
  bool help = false;
  app.add_flag("-h,--help", help);
  app.add_option("arguments", result.values.positionals);
  std::deque<Binding> bindings;
  for (const Option& o : option_table()) {
    if (!(o.commands & command->command)) continue;
    Binding& b = bindings.emplace_back(Binding{&o, nullptr, {}});
    if (o.kind == Kind::flag) b.parsed = app.add_flag(cli11_names(o));
    else b.parsed = app.add_option(cli11_names(o), b.values)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  }
  bool is_value = false;  // of the option before it: taken as it is
  for (std::string& a : arguments) {
    if (a == "--" && !is_value) break;
    if (!std::exchange(is_value, false) && looks_like_option(a)) {
      a = long_form(a, command->command);
      const CLI::Option* option = app.get_option_no_throw(a.substr(0, a.find('=')));
      const bool glued = a[1] != '-' && a.size() > 2 && app.get_option_no_throw(a.substr(0, 2));  // -n5
      if (!option && !glued) return unknown_option(a, *command);
      is_value = option && option->get_items_expected_max() > 0 && a.find('=') == std::string::npos;
    }
  }
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    return Error{std::string(e.what()), "see outrider " + std::string(command->name) + " --help", ErrorKind::usage};
  }
  if (help) {
    result.help = help_text(command);
    return result;
  }
  for (Binding& b : bindings) {
    if (b.option->kind == Kind::flag && b.parsed->count() > 0) result.values.set(b.option->name, "1", true);
    for (const std::string& value : b.values) {
      if (auto r = check_value(*b.option, value, "--" + std::string(b.option->name)); !r) return r.error();
      result.values.set(b.option->name, value, true);
    }
    if (auto r = take_environment(*b.option, result.values); !r) return r.error();
    if (!result.values.given(b.option->name) && !b.option->fallback.empty()) result.values.set(b.option->name, std::string(b.option->fallback), false);
  }
  return result;
}

}  // namespace outrider::cli
