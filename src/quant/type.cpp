#include "quant/type.h"

#include <array>
#include <cctype>

#include "base/check.h"

namespace outrider {
namespace {

using enum QuantType;
constexpr TypeTraits kTypes[] = {
    {f32, "F32", 1, 4, true},          {f16, "F16", 1, 2, true},         {q4_0, "Q4_0", 32, 18, true},
    {q4_1, "Q4_1", 32, 20, true},      {q5_0, "Q5_0", 32, 22, true},     {q5_1, "Q5_1", 32, 24, true},
    {q8_0, "Q8_0", 32, 34, true},      {q8_1, "Q8_1", 32, 36, false},    {q2_k, "Q2_K", 256, 84, true},
    {q3_k, "Q3_K", 256, 110, true},    {q4_k, "Q4_K", 256, 144, true},   {q5_k, "Q5_K", 256, 176, true},
    {q6_k, "Q6_K", 256, 210, true},    {q8_k, "Q8_K", 256, 292, false},  {iq2_xxs, "IQ2_XXS", 256, 66, false},
    {iq2_xs, "IQ2_XS", 256, 74, false}, {iq3_xxs, "IQ3_XXS", 256, 98, false}, {iq1_s, "IQ1_S", 256, 50, false},
    {iq4_nl, "IQ4_NL", 32, 18, true},  {iq3_s, "IQ3_S", 256, 110, false}, {iq2_s, "IQ2_S", 256, 82, false},
    {iq4_xs, "IQ4_XS", 256, 136, true}, {i8, "I8", 1, 1, false},         {i16, "I16", 1, 2, false},
    {i32, "I32", 1, 4, false},         {i64, "I64", 1, 8, false},        {f64, "F64", 1, 8, false},
    {iq1_m, "IQ1_M", 256, 56, false},  {bf16, "BF16", 1, 2, true},       {tq1_0, "TQ1_0", 256, 54, false},
    {tq2_0, "TQ2_0", 256, 66, false},  {mxfp4, "MXFP4", 32, 17, true},   {nvfp4, "NVFP4", 64, 36, false},
};

constexpr QuantType kRunnable[] = {f32,  f16,  bf16, q4_0, q4_1, q5_0,   q5_1,   q8_0,
                                   q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs, mxfp4};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::toupper(static_cast<unsigned char>(a[i])) != std::toupper(static_cast<unsigned char>(b[i]))) return false;
  return true;
}

}  // namespace

const TypeTraits* find_type(uint32_t id) {
  for (const TypeTraits& t : kTypes)
    if (uint32_t(t.type) == id) return &t;
  return nullptr;
}

const TypeTraits* find_type(std::string_view name) {
  for (const TypeTraits& t : kTypes)
    if (same_ignoring_case(t.name, name)) return &t;
  return nullptr;
}

const TypeTraits& traits(QuantType type) {
  const TypeTraits* found = find_type(uint32_t(type));
  OUTRIDER_CHECK(found);
  return *found;
}

std::span<const QuantType> runnable_types() { return kRunnable; }

std::string runnable_type_names() {
  std::string names;
  for (QuantType type : kRunnable) {
    if (!names.empty()) names += ", ";
    names += traits(type).name;
  }
  return names;
}

std::optional<size_t> bytes_for(QuantType type, size_t elements) {
  const TypeTraits& t = traits(type);
  if (elements % t.block_elements) return std::nullopt;
  return elements / t.block_elements * t.block_bytes;
}

}  // namespace outrider
