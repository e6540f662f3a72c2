#include "cli/prompt_set.h"

#include <map>
#include <set>
#include <sstream>

#include "cli/files.h"

namespace outrider::cli {

namespace {

constexpr const char* kBuiltInPrompts =
    R"({"id":"code","task":"code","messages":[{"role":"user","content":"Write a Python function that reverses a string, then explain it."}]}
{"id":"copy","task":"copy","messages":[{"role":"user","content":"Repeat this line exactly five times: the quick brown fox jumps over the lazy dog"}]}
{"id":"prose","task":"creative","messages":[{"role":"user","content":"Describe a harbour at dawn in three sentences."}]})";

std::set<std::string> names_in(const std::string& list) {
  std::set<std::string> names;
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, ',');) names.insert(name);
  return names;
}

}  // namespace

Result<std::vector<Prompt>> load_prompts(const Values& values, const std::string& tasks, int64_t per_task) {
  const bool named = values.given("prompts");
  const std::string path = named ? values.text("prompts") : "prompts/outrider.jsonl";
  auto text = read_file(path);
  if (!text && named) return text.error();
  auto prompts = text ? parse_prompts(*text, path) : parse_prompts(kBuiltInPrompts, "built-in prompts");
  if (!prompts) return prompts.error();
  const std::set<std::string> wanted = names_in(tasks);
  std::map<std::string, int64_t> met;
  std::erase_if(*prompts, [&](const Prompt& p) { return (!wanted.empty() && !wanted.contains(p.task)) || (++met[p.task] > per_task && per_task > 0); });
  for (const std::string& name : wanted)
    if (!met.contains(name)) return Error{"--tasks: there is no prompt of the task «" + name + "»", "name tasks of the prompt file, separated by commas", ErrorKind::usage};
  return prompts;
}

}  // namespace outrider::cli
