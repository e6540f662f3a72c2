#pragma once
// Test material for kernels: seeded numbers, random matrices of every type, activations, and the tables to compare.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "quant/encode.h"

namespace outrider::kernels::test {

struct Aligned {  // 64-byte aligned bytes with a guard pattern behind them
  explicit Aligned(size_t bytes) : storage(bytes + 128, std::byte{0xA5}), size(bytes) {}
  std::byte* data() { return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(storage.data()) + 63) / 64 * 64); }
  const std::byte* data() const { return const_cast<Aligned*>(this)->data(); }
  std::vector<std::byte> storage;
  size_t size;
};

inline std::vector<float> random_floats(size_t n, uint32_t seed, float sd = 1) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0, sd);
  std::vector<float> x(n);
  for (float& v : x) v = normal(rng);
  return x;
}

struct TestMatrix {
  std::vector<std::byte> gguf;  // rows as in a file
  Aligned packed;
  Matrix matrix;

  TestMatrix(QuantType type, int64_t rows, int64_t k, uint32_t seed) : packed(size_t(matrix_layout(type, rows, k).bytes())) {
    gguf = random_blocks(type, size_t(rows * k), seed, 1.0f / 16);
    matrix.layout = matrix_layout(type, rows, k);
    const int64_t row_bytes = int64_t(*bytes_for(type, size_t(k)));
    for (int64_t t = 0; t < matrix.layout.tiles(); ++t)
      pack_tile(matrix.layout, gguf.data() + t * 16 * row_bytes, row_bytes, int(std::min<int64_t>(16, rows - t * 16)), packed.data() + t * matrix.layout.tile_bytes());
    matrix.data = packed.data();
    set_table(matrix);
  }
};

struct TestActivations {
  std::vector<float> values;
  Aligned panels;
  Activations view;

  TestActivations(const Kernels& kernels, std::vector<float> x, int columns, int64_t k)
      : values(std::move(x)), panels(size_t(Activations::words(columns, k)) * 4) {
    view = {.columns = columns, .k = k, .panels = reinterpret_cast<int32_t*>(panels.data()), .values = values.data(), .value_stride = k};
    for (int c = 0; c < columns; ++c) kernels.quantise(values.data() + c * k, k / 32, view, c, 0);
  }
};

// Those that this machine has; the others go untested, which the test `Tables` reports.
inline std::vector<const Kernels*> tables() {
  std::vector<const Kernels*> all;
  for (const Isa isa : kAllIsas)
    if (isa_supported(isa)) all.push_back(&kernels_for(isa));
  return all;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0; }

}  // namespace outrider::kernels::test
