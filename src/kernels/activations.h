#pragma once
// Activations of one step, quantised once and read by every matrix that takes them.
//
// The columns are cut into panels of at most 8; panel p of width N holds for each 32-block of k one record of 12·N words:
//   int8  codes  [8][N][4]   k ascending in groups of 4, so that one 32-bit word broadcasts against 16 weight rows
//   float scale  [N]         max|x| / 127 over the 32 values
//   int32 debt   [N]         −Σ codes over the block: times a format's offset, where its integer sums start
//   int32 debt_lo[N]         −Σ codes over its first 16
//   float weighed[N]         scale · float(Σ codes), for formats with minima
// codes = round-to-even(x · 127/max|x|), so |code| ≤ 127. Columns are quantised independently: the number of neighbours changes nothing.
// For float matrices (F32, F16, BF16) `values` keeps the unquantised rows.
#include <cstddef>
#include <cstdint>

#include "base/inline.h"

namespace outrider::kernels {

inline constexpr int kPanelColumns = 8;

struct PanelRecord {
  static constexpr OUTRIDER_ALWAYS_INLINE int64_t words(int columns) { return 12 * int64_t(columns); }
};

struct Activations {
  int columns = 0;         // n ≥ 1
  int64_t k = 0;           // padded to a multiple of 32
  int32_t* panels = nullptr;        // activation_words(columns, k) words, 64-byte aligned
  const float* values = nullptr;    // [columns][value_stride]
  int64_t value_stride = 0;

  OUTRIDER_ALWAYS_INLINE int64_t blocks() const { return k / 32; }
  OUTRIDER_ALWAYS_INLINE int panel_count() const { return (columns + kPanelColumns - 1) / kPanelColumns; }
  // Panels are of nearly equal width: 9 columns are 5 + 4.
  OUTRIDER_ALWAYS_INLINE int panel_begin(int panel) const { return int(int64_t(columns) * panel / panel_count()); }
  OUTRIDER_ALWAYS_INLINE int panel_width(int panel) const { return panel_begin(panel + 1) - panel_begin(panel); }
  OUTRIDER_ALWAYS_INLINE int32_t* panel(int index) const { return panels + blocks() * PanelRecord::words(panel_begin(index)); }
  OUTRIDER_ALWAYS_INLINE int panel_of(int column) const {
    int p = int((int64_t(column) * panel_count()) / columns);
    while (p + 1 < panel_count() && panel_begin(p + 1) <= column) ++p;
    while (panel_begin(p) > column) --p;
    return p;
  }
  static OUTRIDER_ALWAYS_INLINE int64_t words(int columns, int64_t k) { return PanelRecord::words(columns) * ((k + 31) / 32); }
};

}  // namespace outrider::kernels
