#pragma once
// Activations of one step, quantised once and read by every matrix that takes them.
//
// The columns are cut into panels of at most 8; panel p of width N holds for each 32-block of k one record of 10·N words:
//   int8  codes   [8][N][4]  k ascending in groups of 4, so that one 32-bit word broadcasts against 16 weight rows
//   float scale   [N]        max|x| / 127 over the 32 values
//   float weighed [N]        scale · float(Σ codes), for formats with minima
// and, behind all records, so that formats which need none of them go through less memory, 4·N words of starts:
//   int32 debt    [N]        −Σ codes: times a format's offset, what its integer sums owe from the start
//   int32 start128[N]        kSumStart − 128·Σ codes, where sums of 8-bit codes start
//   int32 start32 [2][N]     kSumStart − 32·Σ codes over the first and the last 16: the same of 6-bit codes
// codes = round-to-even(x · 127/max|x|), so |code| ≤ 127. Columns are quantised independently: the number of neighbours changes nothing.
// For float matrices (F32, F16, BF16) `values` keeps the unquantised rows.
#include <cstddef>
#include <cstdint>

#include "base/inline.h"

namespace outrider::kernels {

inline constexpr int kPanelColumns = 8;

// Integer sums start here: as bits, the float 1.5·2²³. While |dot| < 2²² the bits of the sum are then those of the float 1.5·2²³ + dot,
// so that one fma with a scale d of at most 19 bits (a half times eight bits: 1.5·2²³·d is exact), fma(sum, d, −1.5·2²³·d), is d·dot
// rounded once: no conversion, no product apart.
inline constexpr int32_t kSumStart = 0x4B400000;
inline constexpr float kSumStartValue = 12582912;

struct PanelRecord {
  static constexpr int kScale = 8, kWeighed = 9, kWords = 10;  // times N: where the parts begin
  static constexpr OUTRIDER_ALWAYS_INLINE int64_t words(int columns) { return kWords * int64_t(columns); }
};
struct PanelStarts {
  static constexpr int kDebt = 0, kStart128 = 1, kStart32 = 2, kWords = 4;
  static constexpr OUTRIDER_ALWAYS_INLINE int64_t words(int columns) { return kWords * int64_t(columns); }
};

// What follows the codes of column c in a record of `width` columns, and its starts; sums of its codes over the first and the last 16.
OUTRIDER_ALWAYS_INLINE void write_sums(int32_t* record, int32_t* starts, int width, int c, float scale, int low, int high) {
  const auto at = [&](int part) { return part * width + c; };
  auto* floats = reinterpret_cast<float*>(record);
  floats[at(PanelRecord::kScale)] = scale, floats[at(PanelRecord::kWeighed)] = scale * float(low + high);
  starts[at(PanelStarts::kDebt)] = -(low + high), starts[at(PanelStarts::kStart128)] = kSumStart - 128 * (low + high);
  starts[at(PanelStarts::kStart32)] = kSumStart - 32 * low, starts[at(PanelStarts::kStart32 + 1)] = kSumStart - 32 * high;
}

struct Activations {
  int columns = 0;         // n ≥ 1
  int64_t k = 0;           // padded to a multiple of 32
  int32_t* panels = nullptr;        // words(columns, k) of them, 64-byte aligned
  const float* values = nullptr;    // [columns][value_stride]
  int64_t value_stride = 0;

  OUTRIDER_ALWAYS_INLINE int64_t blocks() const { return k / 32; }
  OUTRIDER_ALWAYS_INLINE int panel_count() const { return (columns + kPanelColumns - 1) / kPanelColumns; }
  // Panels are of nearly equal width: 9 columns are 5 + 4.
  OUTRIDER_ALWAYS_INLINE int panel_begin(int panel) const { return int(int64_t(columns) * panel / panel_count()); }
  OUTRIDER_ALWAYS_INLINE int panel_width(int panel) const { return panel_begin(panel + 1) - panel_begin(panel); }
  OUTRIDER_ALWAYS_INLINE int32_t* panel(int index) const { return panels + blocks() * PanelRecord::words(panel_begin(index)); }
  OUTRIDER_ALWAYS_INLINE int32_t* starts(int index) const { return panels + blocks() * (PanelRecord::words(columns) + PanelStarts::words(panel_begin(index))); }
  OUTRIDER_ALWAYS_INLINE int panel_of(int column) const {
    int p = int((int64_t(column) * panel_count()) / columns);
    while (p + 1 < panel_count() && panel_begin(p + 1) <= column) ++p;
    while (panel_begin(p) > column) --p;
    return p;
  }
  static OUTRIDER_ALWAYS_INLINE int64_t words(int columns, int64_t k) { return (PanelRecord::words(columns) + PanelStarts::words(columns)) * ((k + 31) / 32); }
};

}  // namespace outrider::kernels
