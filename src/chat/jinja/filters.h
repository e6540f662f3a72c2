#pragma once
// The tables of filters, one per file.
#include <span>
#include <string_view>

#include "chat/jinja/runner.h"

namespace outrider::jinja {

struct FilterEntry {
  std::string_view name;
  Builtin function;
};
std::span<const FilterEntry> text_filters();      // filters_text.cpp
std::span<const FilterEntry> value_filters();     // filters_value.cpp: numbers, defaults, single items
std::span<const FilterEntry> sequence_filters();  // filters_sequence.cpp

// Text without its case, other values as they are: what sort, unique, min and max compare unless told otherwise.
Value case_folded(const Value& value, bool case_sensitive);

}  // namespace outrider::jinja
