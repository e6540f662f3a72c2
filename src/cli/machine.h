#pragma once
// What the program knows of the machine and the person it runs for.
#include <filesystem>
#include <string>

namespace outrider::cli {

std::string cpu_name();  // as the system calls it; "unknown" where it does not say
// Where files may be kept that can be made again: ${XDG_CACHE_HOME:-~/.cache}/outrider; empty where there is no such place.
std::filesystem::path cache_folder();

}  // namespace outrider::cli
