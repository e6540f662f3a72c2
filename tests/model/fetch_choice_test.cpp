// How weights are fetched is never seen in a result, and the choice takes the way that the clock favours.
#include "model/fetch_choice.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace outrider {
namespace {

struct Weights {
  kernels::Matrix matrix;
  std::vector<std::byte> bytes;
  std::byte* data;

  Weights(QuantType type, int64_t rows, int64_t columns) : bytes(size_t(kernels::matrix_layout(type, rows, columns).bytes()) + 64) {
    data = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
    std::mt19937 random(7);
    for (std::byte& b : bytes) b = std::byte(random() & 0x3f);  // scales stay finite
    matrix.layout = kernels::matrix_layout(type, rows, columns), matrix.data = data;
    kernels::set_table(matrix);
  }
};

TEST(FetchChoice, NoResultDependsOnIt) {
  const int64_t rows = 80, columns = 512;
  for (const kernels::Isa isa : kernels::kAllIsas) {
    if (!kernels::isa_supported(isa)) continue;
    const kernels::Kernels& k = kernels::kernels_for(isa);
    for (const QuantType type : {QuantType::q4_k, QuantType::q6_k, QuantType::q5_0, QuantType::q8_0, QuantType::iq4_nl}) {
      Weights w(type, rows, columns);
      for (const int n : {1, 4, 8, 11}) {
        std::vector<float> x(size_t(columns), 0.5f);
        for (size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 37 % 101) - 50);
        std::vector<int32_t> panels(size_t(kernels::Activations::words(n, columns)) + 16);
        kernels::Activations a{.columns = n, .k = columns, .panels = panels.data() + (64 - reinterpret_cast<uintptr_t>(panels.data()) % 64) % 64 / 4};
        for (int c = 0; c < n; ++c) k.quantise(x.data(), columns / 32, a, c, 0);
        std::vector<float> first;
        for (const kernels::Fetch ahead : {kernels::Fetch{0, 0}, {64, 0}, {6144, 2048}, {1 << 20, 64}, {0, 1 << 20}}) {
          std::vector<float> out(size_t(n * rows));
          w.matrix.fetch = ahead;
          k.multiply(w.matrix, a, 0, w.matrix.layout.tiles(), {.values = out.data(), .stride = rows});
          if (first.empty()) first = out;
          EXPECT_EQ(std::memcmp(first.data(), out.data(), out.size() * sizeof(float)), 0) << k.name << " " << n << " " << ahead.far_bytes << " " << ahead.near_bytes;
        }
      }
    }
  }
}

// A clock that goes by how the last matrices were fetched.
struct Favour final : Clock {
  kernels::Fetch wanted;
  mutable double ms = 0;
  static kernels::Fetch last;
  double now_ms() const override { return ms += last.far_bytes == wanted.far_bytes && last.near_bytes == wanted.near_bytes ? 0.01 : 0.02; }
};
kernels::Fetch Favour::last;

TEST(FetchChoice, TakesTheFastest) {
  Weights w(QuantType::q4_k, 256, 512);
  ThreadPool pool(1);
  kernels::Kernels spying = kernels::kernels_for(kernels::Isa::scalar);
  spying.multiply = [](const kernels::Matrix& m, const kernels::Activations&, int64_t, int64_t, const kernels::MatrixOutput&) { Favour::last = m.fetch; };
  kernels::Matrix* all[] = {&w.matrix};
  for (const kernels::Fetch& wanted : kFetches) {
    Favour clock;
    clock.wanted = wanted;
    const kernels::Fetch chosen = choose_fetch(all, spying, pool, clock);
    EXPECT_EQ(chosen.far_bytes, wanted.far_bytes);
    EXPECT_EQ(chosen.near_bytes, wanted.near_bytes);
  }
}

TEST(FetchChoice, NothingToTryOn) {
  ThreadPool pool(1);
  SteadyClock clock;
  EXPECT_EQ(choose_fetch({}, kernels::kernels_for(kernels::Isa::scalar), pool, clock).far_bytes, kFetches[0].far_bytes);
}

}  // namespace
}  // namespace outrider
