#pragma once
// The real models that tools/fetch_models keeps. A test that needs one fails when it is not there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "gguf/file.h"

namespace outrider::test {

inline std::string model_path(const std::string& name) {
  const char* folder = std::getenv("OUTRIDER_MODELS");
  const char* home = std::getenv("HOME");
  return (folder ? std::string(folder) : std::string(home ? home : "") + "/.cache/outrider/models") + "/" + name + ".gguf";
}

inline constexpr const char* kQwen15 = "qwen2.5-coder-1.5b-instruct-q4_k_m";
inline constexpr const char* kQwen05 = "qwen2.5-coder-0.5b-instruct-q4_k_m";
inline constexpr const char* kSmol = "smollm2-135m-instruct-q4_1";
inline constexpr const char* kGemma = "gemma-3-270m-q4_k_m";

}  // namespace outrider::test
