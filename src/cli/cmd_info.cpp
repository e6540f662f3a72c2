// outrider version, options, completion: all made from the tables.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/spec.h"
#include "cli/terminal.h"

#ifndef OUTRIDER_VERSION
#define OUTRIDER_VERSION "unknown"
#endif

namespace outrider::cli {

namespace {

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::flag: return "flag";
    case Kind::integer: return "integer";
    case Kind::number: return "number";
    case Kind::text: return "text";
    case Kind::list: return "list";
  }
  return "";
}

nlohmann::ordered_json commands_of(const Option& o) {
  auto names = nlohmann::ordered_json::array();
  for (const CommandInfo& c : command_table())
    if (o.commands & c.command) names.push_back(c.name);
  return names;
}

nlohmann::ordered_json spec_json() {
  auto kinds = nlohmann::ordered_json::array();
  for (const SpecKind& kind : spec_kinds()) {
    auto keys = nlohmann::ordered_json::array();
    for (const SpecKey& key : spec_keys(kind.name)) {
      keys.push_back({{"name", key.name}, {"type", key.whole ? "integer" : "number"}, {"range", {key.low, key.high}}, {"help", key.help}});
      if (!key.fallback.empty()) keys.back()["default"] = key.fallback;
    }
    kinds.push_back({{"name", kind.name}, {"help", kind.help}, {"keys", keys}});
  }
  return kinds;
}

std::string names_for(uint32_t command) {
  std::string words;
  for (const Option& o : option_table())
    if (o.commands & command) words += "--" + std::string(o.name) + " ";
  return words;
}

std::string bash_script() {
  std::string script = "_outrider() {\n  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n  local words\n  case $command in\n", commands;
  for (const CommandInfo& c : command_table()) {
    script += "    " + std::string(c.name) + ") words='" + names_for(c.command) + "' ;;\n";
    commands += std::string(c.name) + " ";
  }
  return script + "    *) words='" + names_for(kRun) + "' ;;\n  esac\n  (( COMP_CWORD == 1 )) && words=\"" + commands +
         "$words\"\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n  [[ $current == -* ]] && return\n  local IFS=$'\\n'\n  compopt -o filenames 2>/dev/null\n  COMPREPLY+=($(compgen -f -- \"$current\"))\n}\ncomplete -F _outrider outrider\n";
}

std::string zsh_script() { return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(); }

std::string fish_script() {
  std::string script;
  for (const CommandInfo& c : command_table())
    script += "complete -c outrider -n __fish_use_subcommand -a " + std::string(c.name) + " -d '" + std::string(c.summary) + "'\n";
  for (const Option& o : option_table()) {
    std::string commands;
    for (const CommandInfo& c : command_table())
      if (o.commands & c.command) commands += " " + std::string(c.name);
    std::string help(o.help);
    for (size_t at = 0; (at = help.find('\'', at)) != std::string::npos; at += 2) help.replace(at, 1, "\\'");
    script += "complete -c outrider -n '__fish_seen_subcommand_from" + commands + "' -l " + std::string(o.name) + (o.kind == Kind::flag ? "" : " -r") + " -d '" + help + "'\n";
  }
  return script;
}

}  // namespace

int cmd_version(const Values& values) {
  const auto kernels = choose_kernels();
  if (!kernels) return report(kernels.error());
  if (!values.flag("json")) return print("outrider " OUTRIDER_VERSION ", compiler " __VERSION__ ", kernels " + std::string((*kernels)->name) + "\n");
  nlohmann::ordered_json j{{"version", OUTRIDER_VERSION}, {"compiler", __VERSION__}, {"kernels", (*kernels)->name}, {"threads", usable_cpus()}};
  return print(j.dump() + "\n");
}

int cmd_options(const Values& values) {
  if (!values.flag("json")) {
    std::string text;
    for (const CommandInfo& c : command_table()) text += help_text(&c) + "\n";
    return print(text);
  }
  auto j = nlohmann::ordered_json::array();
  for (const Option& o : option_table()) {
    nlohmann::ordered_json entry{{"name", o.name}, {"aliases", o.aliases}, {"type", kind_name(o.kind)}, {"environment", environment_name(o)}, {"group", o.group}, {"help", o.help}};
    if (!o.value.empty()) entry["value"] = o.value;
    if (!o.fallback.empty()) entry["default"] = o.fallback;
    if (!o.choices.empty()) entry["choices"] = o.choices;
    if (o.kind == Kind::integer || o.kind == Kind::number) entry["range"] = {o.low, o.high};
    if (o.name == "spec") entry["kinds"] = spec_json();
    entry["commands"] = commands_of(o);
    j.push_back(std::move(entry));
  }
  return print(j.dump(2) + "\n");
}

int cmd_completion(const Values& values) {
  const std::string& shell = values.shell;
  if (shell == "bash") return print(bash_script());
  if (shell == "zsh") return print(zsh_script());
  if (shell == "fish") return print(fish_script());
  return report({"completion for «" + shell + "» is not known", "use bash, zsh or fish", ErrorKind::usage});
}

}  // namespace outrider::cli
