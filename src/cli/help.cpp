#include <cstdio>

#include "cli/spec.h"

namespace outrider::cli {

namespace {

std::string pad(std::string text, size_t width) {
  size_t shown = 0;
  for (const char c : text) shown += (c & 0xC0) != 0x80;
  if (shown < width) text.append(width - shown, ' ');
  return text;
}

std::string left_column(const Option& o) {
  std::string text = o.aliases.empty() ? "" : std::string(o.aliases) + ",";
  text += "--" + std::string(o.name);
  return o.kind == Kind::flag ? text : text + " " + std::string(o.value);
}

// Beneath --spec: the kinds, then the keys with their defaults.
std::string spec_lines() {
  const auto line = [](std::string_view name, std::string_view help) { return std::string(40, ' ') + pad(std::string(name), 16) + std::string(help) + "\n"; };
  std::string lines;
  for (const SpecKind& kind : spec_kinds()) lines += line(kind.name, kind.help);
  for (const SpecKey& key : all_spec_keys())
    lines += line((key.kind.empty() ? "KIND" : std::string(key.kind)) + ":" + std::string(key.name) + "=" + std::string(key.fallback), key.help);
  return lines;
}

}  // namespace

std::string help_text(const CommandInfo* command) {
  std::string out;
  if (!command) {
    out = "outrider: local language models, several tokens at a time, the same text.\n\nusage: outrider [COMMAND] [OPTIONS]\n\n";
    for (const CommandInfo& c : command_table()) out += "  " + pad(std::string(c.name) + " " + std::string(c.arguments), 26) + std::string(c.summary) + "\n";
    return out + "\noutrider COMMAND --help tells the options. Every option can be set as OUTRIDER_NAME in the environment.\n";
  }
  out = "usage: outrider " + std::string(command->name) + " " + std::string(command->arguments) + " [OPTIONS]\n" + std::string(command->summary) + "\n";
  std::string_view group;
  for (const Option& o : option_table()) {
    if (!(o.commands & command->command)) continue;
    if (o.group != group) out += "\n" + std::string(group = o.group) + "\n";
    std::string help(o.help);
    if (!o.choices.empty()) help += " (" + std::string(o.choices) + ")";
    if (!o.fallback.empty()) help += " [" + std::string(o.fallback) + "]";
    const std::string left = "  " + left_column(o);
    out += left.size() > 36 ? left + "\n" + std::string(38, ' ') + help + "\n" : pad(left, 38) + help + "\n";
    if (o.name == "spec") out += spec_lines();
  }
  return out;
}

}  // namespace outrider::cli
