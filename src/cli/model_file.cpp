#include "cli/model_file.h"

#include <cstdlib>
#include <filesystem>

namespace outrider::cli {

namespace {

bool set(const char* text) { return text && *text; }

std::filesystem::path models_folder() {
  const char *folder = std::getenv("OUTRIDER_MODELS"), *home = std::getenv("HOME");
  if (set(folder)) return folder;
  return set(home) ? std::filesystem::path(home) / ".cache/outrider/models" : std::filesystem::path();
}

}  // namespace

std::string find_model(const std::string& name) {
  std::error_code ignored;
  if (name.empty() || name.find('/') != std::string::npos || std::filesystem::exists(name, ignored)) return name;
  const std::filesystem::path folder = models_folder();
  for (const std::string& file : {name, name + ".gguf"})
    if (!folder.empty() && std::filesystem::is_regular_file(folder / file, ignored)) return folder / file;
  return name;
}

}  // namespace outrider::cli
