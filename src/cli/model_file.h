#pragma once
// Models by name.
#include <string>

namespace outrider::cli {

// The file that a person means: as named if it is there, else NAME or NAME.gguf among the fetched models. A name that is nowhere stays.
std::string find_model(const std::string& name);

}  // namespace outrider::cli
