// The typed reads of GgufFile: from a key's place in the header to a value of the wanted type, or an error that names the key.
#include <cmath>
#include <cstring>

#include "gguf/file.h"

namespace outrider {
namespace {

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

bool is_integer(ValueType type) {
  using enum ValueType;
  return type == u8 || type == i8 || type == u16 || type == i16 || type == u32 || type == i32 || type == u64 || type == i64;
}

bool is_number(ValueType type) { return is_integer(type) || type == ValueType::f32 || type == ValueType::f64; }

// An integer of any width; nothing for a u64 beyond int64.
std::optional<int64_t> load_integer(ValueType type, const std::byte* bytes) {
  switch (type) {
    case ValueType::u8: return load<uint8_t>(bytes);
    case ValueType::i8: return load<int8_t>(bytes);
    case ValueType::u16: return load<uint16_t>(bytes);
    case ValueType::i16: return load<int16_t>(bytes);
    case ValueType::u32: return load<uint32_t>(bytes);
    case ValueType::i32: return load<int32_t>(bytes);
    case ValueType::i64: return load<int64_t>(bytes);
    default: break;
  }
  const uint64_t wide = load<uint64_t>(bytes);
  if (wide > uint64_t(INT64_MAX)) return std::nullopt;
  return int64_t(wide);
}

float load_number(ValueType type, const std::byte* bytes) {
  if (type == ValueType::f32) return load<float>(bytes);
  if (type == ValueType::f64) return float(load<double>(bytes));
  const auto whole = load_integer(type, bytes);
  return whole ? float(*whole) : float(load<uint64_t>(bytes));
}

std::string type_of(const KeyInfo& key) {
  if (key.type != ValueType::array) return std::string(value_type_name(key.type));
  return "an array of " + std::string(value_type_name(key.element));
}

}  // namespace

const KeyInfo* GgufFile::find_key(std::string_view key) const {
  const auto found = key_index_.find(std::string(key));
  return found == key_index_.end() ? nullptr : &keys_[found->second];
}

// The key if its (element) type fits `wanted`: "integer", "number", "bool" or "string".
Result<const KeyInfo*> GgufFile::expect(std::string_view name, std::string_view wanted, bool array) const {
  const KeyInfo* key = find_key(name);
  const std::string who = "'" + path() + "': key '" + printable(name) + "'";
  if (!key) return Error{who + " is missing", "the file is incomplete; convert the model again with a current tool"};
  const ValueType type = array ? key->element : key->type;
  const bool shape = (key->type == ValueType::array) == array;
  const bool fits = wanted == "integer" ? is_integer(type)
                    : wanted == "number" ? is_number(type)
                    : wanted == "bool"   ? type == ValueType::boolean
                                         : type == ValueType::string;
  if (shape && fits) return key;
  return Error{who + " is " + type_of(*key) + ", not " + (array ? "an array of " + std::string(wanted) + "s" : std::string(wanted == "integer" ? "an " : "a ") + std::string(wanted)),
               "the file was made by a broken tool; convert the model again"};
}

Result<int64_t> GgufFile::integer(std::string_view name) const {
  const auto key = expect(name, "integer", false);
  if (!key) return key.error();
  if (const auto value = load_integer((*key)->type, header_.data() + (*key)->offset)) return *value;
  return Error{"'" + path() + "': key '" + printable(name) + "' is larger than 2^63", ""};
}

Result<uint64_t> GgufFile::uint(std::string_view name) const {
  const auto value = integer(name);
  if (!value) return value.error();
  if (*value < 0) return Error{"'" + path() + "': key '" + printable(name) + "' is " + std::to_string(*value) + ", which must not be negative", ""};
  return uint64_t(*value);
}

Result<float> GgufFile::number(std::string_view name) const {
  const auto key = expect(name, "number", false);
  if (!key) return key.error();
  const float value = load_number((*key)->type, header_.data() + (*key)->offset);
  if (std::isfinite(value)) return value;
  return Error{"'" + path() + "': key '" + printable(name) + "' is not a finite number", ""};
}

Result<bool> GgufFile::boolean(std::string_view name) const {
  const auto key = expect(name, "bool", false);
  if (!key) return key.error();
  return load<uint8_t>(header_.data() + (*key)->offset) != 0;
}

Result<std::string_view> GgufFile::string(std::string_view name) const {
  const auto key = expect(name, "string", false);
  if (!key) return key.error();
  const auto bytes = raw(**key);
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::vector<int64_t>> GgufFile::integers(std::string_view name) const {
  const auto key = expect(name, "integer", true);
  if (!key) return key.error();
  std::vector<int64_t> values;
  values.reserve((*key)->count);
  const std::byte* at = header_.data() + (*key)->offset;
  for (uint64_t i = 0; i < (*key)->count; ++i, at += value_type_bytes((*key)->element)) {
    const auto value = load_integer((*key)->element, at);
    if (!value) return Error{"'" + path() + "': key '" + printable(name) + "' holds a number larger than 2^63", ""};
    values.push_back(*value);
  }
  return values;
}

Result<std::vector<float>> GgufFile::numbers(std::string_view name) const {
  const auto key = expect(name, "number", true);
  if (!key) return key.error();
  std::vector<float> values;
  values.reserve((*key)->count);
  const std::byte* at = header_.data() + (*key)->offset;
  for (uint64_t i = 0; i < (*key)->count; ++i, at += value_type_bytes((*key)->element)) values.push_back(load_number((*key)->element, at));
  return values;
}

Result<std::vector<bool>> GgufFile::booleans(std::string_view name) const {
  const auto key = expect(name, "bool", true);
  if (!key) return key.error();
  std::vector<bool> values;
  for (uint64_t i = 0; i < (*key)->count; ++i) values.push_back(header_[(*key)->offset + i] != std::byte{0});
  return values;
}

Result<std::vector<std::string_view>> GgufFile::strings(std::string_view name) const {
  const auto key = expect(name, "string", true);
  if (!key) return key.error();
  std::vector<std::string_view> values;
  values.reserve((*key)->count);
  const std::byte* at = header_.data() + (*key)->offset;  // each: u64 length, bytes; bounds were checked when the file was opened
  for (uint64_t i = 0; i < (*key)->count; ++i) {
    const uint64_t length = load<uint64_t>(at);
    values.emplace_back(reinterpret_cast<const char*>(at + 8), length);
    at += 8 + length;
  }
  return values;
}

std::span<const std::byte> GgufFile::raw(const KeyInfo& key) const {
  const std::byte* at = header_.data() + key.offset;
  if (key.type == ValueType::string) return {at + 8, size_t(load<uint64_t>(at))};
  if (key.type != ValueType::array) return {at, value_type_bytes(key.type)};
  if (key.element != ValueType::string) return {at, size_t(key.count) * value_type_bytes(key.element)};
  const std::byte* end = at;
  for (uint64_t i = 0; i < key.count; ++i) end += 8 + load<uint64_t>(end);
  return {at, end};
}

}  // namespace outrider
