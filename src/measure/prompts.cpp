#include "measure/prompts.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace outrider {

namespace {

bool read_prompt(const nlohmann::json& j, Prompt& p) {
  if (!j.is_object() || !j.contains("messages") || !j["messages"].is_array() || j["messages"].empty()) return false;
  for (const auto& m : j["messages"]) {
    if (!m.is_object() || !m.contains("role") || !m.contains("content") || !m["role"].is_string() || !m["content"].is_string()) return false;
    p.messages.push_back({.role = m["role"], .content = m["content"]});
  }
  if (j.contains("id") && j["id"].is_string()) p.id = j["id"];
  if (j.contains("task") && j["task"].is_string()) p.task = j["task"];
  if (j.contains("max_tokens") && j["max_tokens"].is_number_integer()) p.max_tokens = j["max_tokens"];
  return p.max_tokens > 0;
}

}  // namespace

Result<std::vector<Prompt>> parse_prompts(const std::string& text, const std::string& name) {
  std::vector<Prompt> prompts;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto j = nlohmann::json::parse(line, nullptr, false);
    Prompt p;
    if (j.is_discarded() || !read_prompt(j, p))
      return Error{name + ", line " + std::to_string(number) + ": not a prompt", "each line is {\"id\", \"task\", \"messages\": [{\"role\", \"content\"}], \"max_tokens\"}", ErrorKind::usage};
    if (p.id.empty()) p.id = "line " + std::to_string(number);
    prompts.push_back(std::move(p));
  }
  if (prompts.empty()) return Error{name + " holds no prompts", "give one JSON object a line", ErrorKind::usage};
  return prompts;
}

}  // namespace outrider
