#pragma once
// Every tensor operation as one function with its mathematical contract. One table per instruction set; all tables give
// the same bits (law 1 of ARCHITECTURE.md): each output element is reduced in one order that depends only on the model's shapes.
//
// «Lane order» below: 16 partial results, partial l taking the elements i ≡ l (mod 16) in ascending i, then folded as
// l += l+8, l += l+4, l += l+2, l += l+1. Every product that is added is added with fma.
#include <cstdint>
#include <span>

#include "base/noise.h"
#include "kernels/activations.h"
#include "kernels/attention.h"
#include "kernels/matrix.h"

namespace outrider::kernels {

inline constexpr int kMaxBlock = 64;                         // entries of a row that share one of the maxima of block_max
inline constexpr float kGeluLinear = 1.59576912f, kGeluCubic = 0.0713548163f;  // 2√(2/π), and times 0.044715
inline constexpr int kProbeWords = 16;                       // words of four activations a round of probe_dots
inline constexpr int64_t kProbeProducts = 64 * kProbeWords;  // multiply-accumulates a round

struct Kernels {
  const char* name;  // "scalar", "avx2", "avxvnni", "avx512"

  // Matrices. multiply computes rows [16·tile_begin, 16·tile_end) of W·a for every column of the activations:
  //   s = Σ over 32-blocks of W's row with column c;  s += bias[row] if there is one;  out[c][row] = add ? out[c][row] + s : s
  // The order of the sum is documented in scalar/multiply.cpp.
  void (*multiply)(const Matrix& w, const Activations& a, int64_t tile_begin, int64_t tile_end, const MatrixOutput& out);
  // Quantises x[0, 32·blocks) of column `column` into 32-blocks [first_block, first_block + blocks): see activations.h.
  void (*quantise)(const float* x, int64_t blocks, const Activations& a, int column, int64_t first_block);

  // Rows.
  float (*rms_scale)(const float* x, int64_t n, float epsilon);                                // 1/sqrt(mean(x²) + ε), Σ in lane order
  void (*scale_multiply)(const float* x, float scale, const float* weight, int64_t n, float* out);  // out = (x · scale) · w
  void (*silu_multiply)(const float* gate, const float* up, int64_t n, float* out);             // out = gate / (1 + exp32(−gate)) · up
  // The tanh form of GELU, ½g(1 + tanh(√(2/π)(g + 0.044715g³))) · up, as a sigmoid: out = g / (1 + exp32(−t)) · up, t = g · fma(g·g, kGeluCubic, kGeluLinear)
  void (*gelu_multiply)(const float* gate, const float* up, int64_t n, float* out);
  // Rotates pairs of x: (i, i + half) or, when interleaved, (2i, 2i + 1), by the angles whose cos and sin are given (half values each).
  void (*rotate)(float* x, const float* cosines, const float* sines, int half, bool interleaved);

  // Attention over blocks of 64 positions: see attention.h. attend does everything. The same bits in parts: attend_spans leaves what
  // each of `count` spans comes to in states[span][row][head][span_state_floats], spans `stride` floats apart. Of those that
  // a query's row sees, the first is its total (a copy), add_span adds each of the others to it, ascending; then finish_attend.
  void (*store_kv)(const KvShape& shape, const float* k, const float* v, std::byte* k_block, std::byte* v_block, int slot);
  void (*attend)(const AttendJob& job);
  void (*attend_spans)(const AttendJob& job, int64_t first, int64_t count, float* states, int64_t stride);
  void (*add_span)(int head_dim, const float* state, float* total);
  void (*finish_attend)(int head_dim, const float* total, float* out);

  // Passes over a vocabulary. NaN never wins and adds nothing.
  float (*row_max)(const float* x, int64_t n);                           // −infinity when there is none
  float (*block_max)(const float* x, int64_t n, float* maxima);          // row_max; maxima[b] = that of x[64b, 64b + 64), cut off at n
  float (*sum_exp)(const float* x, int64_t n, float max);                // Σ exp32(x − max), lane order
  void (*exp_below)(const float* x, int64_t n, float max, float* out);   // out = exp32(x − max)
  int64_t (*argmax)(const float* x, int64_t n);                          // lowest index among equals; 0 when all are NaN
  // Writes the indices i with above < x[i] ≤ up_to, ascending, and gives their number. maxima are block_max's of x: blocks with none above are passed over.
  int64_t (*gather)(const float* x, int64_t n, const float* maxima, float above, float up_to, int32_t* out);
  // Writes the ids t of [first, first + n) with noise.bits(t) ≥ least, ascending, and gives their number.
  int64_t (*loud)(const PositionNoise& noise, int32_t first, int64_t n, uint64_t least, int32_t* out);

  // Probes: what this table could do at best, to hold measurements against.
  uint32_t (*probe_read)(const std::byte* data, int64_t bytes);  // Σ of the 32-bit words of a multiple of 256 bytes, each read once, in order
  // rounds · Σ over word i < kProbeWords, lane and j of codes[lane][j] · a[i][j]: codes ≤ 63 and int8, as in the dots of multiply.
  uint32_t (*probe_dots)(const std::byte* codes, const int32_t* a, int64_t rounds);
};

enum class Isa { scalar, avx2, avxvnni, avx512 };
inline constexpr Isa kAllIsas[] = {Isa::scalar, Isa::avx2, Isa::avxvnni, Isa::avx512};  // slowest first

// The widest table this machine can run.
Isa best_isa();
bool isa_supported(Isa isa);
const Kernels& kernels_for(Isa isa);
// Parses a table's name (OUTRIDER_ISA); false when the name is unknown.
bool parse_isa(const char* name, Isa& isa);

extern const Kernels kScalarKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvxVnniKernels;
extern const Kernels kAvx512Kernels;

}  // namespace outrider::kernels
