#include "cli/machine.h"

#include <cstdio>
#include <cstdlib>

namespace outrider::cli {

std::string cpu_name() {
  std::string name = "unknown";
  if (FILE* f = std::fopen("/proc/cpuinfo", "r")) {
    char line[256], value[200];
    while (std::fgets(line, sizeof line, f))
      if (std::sscanf(line, "model name : %199[^\n]", value) == 1) name = value;
    std::fclose(f);
  }
  return name;
}

std::filesystem::path cache_folder() {
  const auto set = [](const char* text) { return text && *text; };
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  if (set(cache) && *cache == '/') return std::filesystem::path(cache) / "outrider";
  return set(home) ? std::filesystem::path(home) / ".cache/outrider" : std::filesystem::path();
}

}  // namespace outrider::cli
