// Every matrix type, every panel width, ragged shapes: the vector kernels give scalar's bits, n columns give each one's own,
// and the result is the float product within what 8-bit activations allow.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/support.h"
#include "quant/decode.h"

namespace outrider::kernels::test {
namespace {

class MultiplyTest : public testing::TestWithParam<QuantType> {};

std::vector<float> product(const Kernels& kernels, const Matrix& m, const Activations& a, const float* bias = nullptr, bool add = false) {
  const int64_t stride = m.layout.rows + 3;
  std::vector<float> y(size_t(stride * a.columns), 0.25f);
  kernels.multiply(m, a, 0, m.layout.tiles(), {.values = y.data(), .stride = stride, .bias = bias, .add = add});
  return y;
}

int64_t block_k(QuantType type) { return std::max<int64_t>(32, traits(type).block_elements); }

TEST_P(MultiplyTest, EveryTableGivesScalarBits) {
  for (const int64_t blocks : {1, 2, 9}) {
    const int64_t k = blocks * block_k(GetParam()), rows = 37;
    TestMatrix m(GetParam(), rows, k, uint32_t(7 + blocks));
    const auto bias = random_floats(size_t(rows), 5);
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 32}) {
      const auto x = random_floats(size_t(n * k), uint32_t(n));
      TestActivations truth(kScalarKernels, x, n, k);
      for (const Kernels* table : tables()) {
        TestActivations a(*table, x, n, k);
        ASSERT_EQ(std::memcmp(a.panels.data(), truth.panels.data(), a.panels.size), 0) << table->name << " quantise n=" << n << " k=" << k;
        EXPECT_TRUE(same_bits(product(*table, m.matrix, a.view), product(kScalarKernels, m.matrix, truth.view))) << table->name << " n=" << n << " k=" << k;
        EXPECT_TRUE(same_bits(product(*table, m.matrix, a.view, bias.data()), product(kScalarKernels, m.matrix, truth.view, bias.data()))) << table->name;
        EXPECT_TRUE(same_bits(product(*table, m.matrix, a.view, bias.data(), true), product(kScalarKernels, m.matrix, truth.view, bias.data(), true))) << table->name;
        EXPECT_TRUE(same_bits(product(*table, m.matrix, a.view, nullptr, true), product(kScalarKernels, m.matrix, truth.view, nullptr, true))) << table->name;
      }
    }
  }
}

// The largest sums there can be, wherever a table may keep them in few bits: every code at an end of its range, every activation at ±127.
TEST_P(MultiplyTest, TheLargestSumsAreExact) {
  const int64_t k = 9 * block_k(GetParam()), rows = 16;
  TestMatrix m(GetParam(), rows, k, 13);
  const MatrixLayout& layout = m.matrix.layout;
  if (layout.is_float()) return;  // no codes
  for (const std::byte codes : {std::byte{0xFF}, std::byte{0x00}}) {
    std::byte* p = m.packed.data();
    for (int64_t left = layout.blocks(); left > 0; left -= kMacroBlocks) {
      const int64_t blocks = std::min<int64_t>(left, kMacroBlocks);
      std::fill_n(p, blocks * layout.code_block_bytes, codes);
      p += layout.macro_bytes(blocks);
    }
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8}) {
      std::vector<float> x(size_t(n * k));
      for (size_t i = 0; i < x.size(); ++i) x[i] = i / size_t(k) % 2 ? -1 : 1;
      TestActivations a(kScalarKernels, x, n, k);
      for (const Kernels* table : tables()) EXPECT_TRUE(same_bits(product(*table, m.matrix, a.view), product(kScalarKernels, m.matrix, a.view))) << table->name << " n=" << n;
    }
  }
}

// Threads share out the tiles: a run of them writes its own rows and no others.
TEST_P(MultiplyTest, SomeTilesWriteTheirRowsOnly) {
  const int64_t k = 3 * block_k(GetParam()), rows = 5 * kTileRows + 3, stride = rows + 3;
  TestMatrix m(GetParam(), rows, k, 17);
  for (const int n : {1, 4, 9}) {
    TestActivations a(kScalarKernels, random_floats(size_t(n * k), 19), n, k);
    for (const Kernels* table : tables()) {
      const auto whole = product(*table, m.matrix, a.view);
      for (const auto& [begin, end] : std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {2, 5}, {3, 3}, {4, 6}}) {
        std::vector<float> got(whole.size(), 0.25f), expect = got;
        table->multiply(m.matrix, a.view, begin, end, {.values = got.data(), .stride = stride});
        for (int c = 0; c < n; ++c)
          for (int64_t i = c * stride + begin * kTileRows; i < c * stride + std::min(rows, end * kTileRows); ++i) expect[size_t(i)] = whole[size_t(i)];
        EXPECT_TRUE(same_bits(expect, got)) << table->name << " n=" << n << " tiles " << begin << " to " << end;
      }
    }
  }
}

TEST_P(MultiplyTest, NeighboursChangeNothing) {
  const int64_t k = 2 * block_k(GetParam()), rows = 48;
  TestMatrix m(GetParam(), rows, k, 3);
  const auto x = random_floats(size_t(32 * k), 11);
  for (const Kernels* table : tables()) {
    for (const int n : {2, 7, 8, 19, 32}) {
      TestActivations all(*table, {x.begin(), x.begin() + n * k}, n, k);
      const auto together = product(*table, m.matrix, all.view);
      for (int c = 0; c < n; ++c) {
        TestActivations one(*table, {x.begin() + c * k, x.begin() + (c + 1) * k}, 1, k);
        const auto alone = product(*table, m.matrix, one.view);
        ASSERT_EQ(std::memcmp(alone.data(), together.data() + c * (rows + 3), size_t(rows) * 4), 0) << table->name << " n=" << n << " column " << c;
      }
    }
  }
}

TEST_P(MultiplyTest, IsTheFloatProduct) {
  const int64_t k = 4 * block_k(GetParam()), rows = 32;
  TestMatrix m(GetParam(), rows, k, 21);
  std::vector<float> w(size_t(rows * k));
  decode(GetParam(), m.gguf.data(), w.size(), w.data());
  TestActivations a(kScalarKernels, random_floats(size_t(k), 8), 1, k);
  const auto y = product(kScalarKernels, m.matrix, a.view);
  for (int64_t r = 0; r < rows; ++r) {
    double exact = 0, size = 0;
    for (int64_t i = 0; i < k; ++i) exact += double(w[size_t(r * k + i)]) * a.values[size_t(i)], size += std::pow(double(w[size_t(r * k + i)]) * 3 / 127, 2);
    EXPECT_NEAR(y[size_t(r)], exact, 4 * std::sqrt(size) + 1e-5) << r;
  }
}

// Packing and unpacking over macros of every width and tiles that are not full.
TEST_P(MultiplyTest, UnpackedRowsAreTheDecodedOnes) {
  for (const int64_t blocks : {1, 2, 3, 7, 8, 9, 17}) {
    for (const int64_t rows : {1, 15, 16, 19}) {
      const int64_t k = blocks * block_k(GetParam());
      TestMatrix m(GetParam(), rows, k, uint32_t(77 + blocks));
      std::vector<float> w(size_t(rows * k)), row(static_cast<size_t>(k));
      decode(GetParam(), m.gguf.data(), w.size(), w.data());
      for (int64_t r = 0; r < rows; ++r) {
        unpack_row(m.matrix, r, row.data());
        for (int64_t i = 0; i < k; ++i) ASSERT_EQ(row[size_t(i)], w[size_t(r * k + i)]) << "row " << r << " of " << rows << " k " << i << " of " << k;
      }
      for (size_t i = m.packed.size; i < m.packed.size + 64; ++i) ASSERT_EQ(m.packed.data()[i], std::byte{0xA5}) << "written behind the matrix";
    }
  }
}

// A row has bytes of its own in a tile, and those of a row that is missing are zero.
TEST_P(MultiplyTest, MissingRowsAreZero) {
  const int64_t k = 9 * block_k(GetParam());
  TestMatrix all(GetParam(), 16, k, 5);
  const int64_t row_bytes = int64_t(*bytes_for(GetParam(), size_t(k)));
  for (int rows = 0; rows < 16; ++rows) {
    std::vector<std::byte> tile(all.packed.size, std::byte{0x5A});
    pack_tile(all.matrix.layout, all.gguf.data(), row_bytes, rows, tile.data());
    for (size_t i = 0; i < tile.size(); ++i) ASSERT_TRUE(tile[i] == all.packed.data()[i] || tile[i] == std::byte{}) << rows << " rows, byte " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, MultiplyTest, testing::ValuesIn(std::vector<QuantType>(runnable_types().begin(), runnable_types().end())),
                         [](const auto& type) { return std::string(traits(type.param).name); });

}  // namespace
}  // namespace outrider::kernels::test
