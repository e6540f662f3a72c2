#pragma once
// Rotary position embedding: which angle turns pair i at a position. Angles are computed in double by our own sine and cosine.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "gguf/file.h"

namespace outrider {

struct Rope {
  int pairs = 0;             // rotated pairs; dimensions past 2·pairs pass through
  bool interleaved = false;  // pair (2i, 2i+1) instead of (i, i + pairs)
  std::vector<double> frequency;  // angle of pair i at position p = p · frequency[i]
  double magnitude = 1;           // cos and sin are scaled by it (YaRN)

  void angles(int64_t position, float* cosines, float* sines) const;
};

// Plain angles: base^(−2i / rotary_dim).
Rope plain_rope(double base, int rotary_dim, bool interleaved);

// Reads <arch>.rope.* and, where present, rope_freqs.weight (a divisor per pair). Scaling: none, linear, yarn, and llama3 through
// the tensor. `rotary_dim` values rotate.
Result<Rope> read_rope(const GgufFile& file, const std::string& architecture, int rotary_dim, bool interleaved);

}  // namespace outrider
