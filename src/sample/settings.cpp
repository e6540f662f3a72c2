#include "sample/settings.h"

#include <cstdio>

namespace outrider {
namespace {

Error out_of_range(const char* name, double value, const char* range) {
  char text[160];
  std::snprintf(text, sizeof text, "%s is %g, but must be %s", name, value, range);
  return {text, "", ErrorKind::usage};
}

struct Range {
  const char* name;
  float value, low, high;
  const char* text;
};

}  // namespace

Result<void> validate(const SamplingSettings& s, int32_t vocabulary_size) {
  const Range ranges[] = {
      {"temperature", s.temperature, 0, 100, "from 0 (greedy) to 100"},
      {"top-p", s.top_p, 0, 1, "from 0 to 1 (1 = off)"},
      {"min-p", s.min_p, 0, 1, "from 0 (off) to 1"},
      {"repeat-penalty", s.repeat_penalty, 0.01f, 100, "from 0.01 to 100 (1 = off)"},
      {"presence-penalty", s.presence_penalty, -2, 2, "from -2 to 2 (0 = off)"},
      {"frequency-penalty", s.frequency_penalty, -2, 2, "from -2 to 2 (0 = off)"},
  };
  for (const Range& r : ranges) {
    if (!(r.value >= r.low && r.value <= r.high)) return out_of_range(r.name, r.value, r.text);  // NaN fails too
  }
  if (s.top_k < 0) return out_of_range("top-k", s.top_k, "0 (off) or more");
  if (s.repeat_last_n < -1) return out_of_range("repeat-last-n", s.repeat_last_n, "-1 (whole context), 0 (off) or more");
  for (const LogitBias& b : s.logit_bias) {
    if (b.token < 0 || b.token >= vocabulary_size) {
      char range[64];
      std::snprintf(range, sizeof range, "a token id from 0 to %d", vocabulary_size - 1);
      return out_of_range("logit-bias token", b.token, range);
    }
    if (!(b.bias <= 100)) return out_of_range("logit-bias", b.bias, "at most 100 (-100 or less bans the token)");
  }
  return {};
}

}  // namespace outrider
