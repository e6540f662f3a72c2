#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/exp32.h"
#include "kernels/support.h"

namespace outrider::kernels::test {
namespace {

const float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Exp32, IsWithinTwoUlpAndKeepsItsEdges) {
  double worst = 0;
  for (float x = -87.0f; x < 88.0f; x += 0.000731f) worst = std::max(worst, std::fabs(exp32(x) / std::exp(double(x)) - 1));
  EXPECT_LT(worst, 2.4e-7);
  EXPECT_EQ(exp32(0), 1.0f);
  EXPECT_EQ(exp32(-kInf), 0.0f);
  EXPECT_EQ(exp32(kNan), 0.0f);
  EXPECT_TRUE(std::isfinite(exp32(kInf)));
}

TEST(Rows, EveryTableGivesScalarBits) {
  for (const int64_t n : {1, 7, 15, 16, 17, 31, 33, 64, 100, 896, 1537}) {
    auto x = random_floats(size_t(n), uint32_t(n), 3), y = random_floats(size_t(n), uint32_t(n + 1));
    if (n > 20) x[3] = 90, x[4] = -95, x[5] = 0, x[6] = -0.0f;
    std::vector<float> expect(static_cast<size_t>(n)), got(static_cast<size_t>(n));
    for (const Kernels* t : tables()) {
      const auto compare = [&](const char* what, auto&& call) {
        expect = y, got = y;
        call(kScalarKernels, expect), call(*t, got);
        EXPECT_TRUE(same_bits(expect, got)) << t->name << " " << what << " n=" << n;
      };
      EXPECT_EQ(kScalarKernels.rms_scale(x.data(), n, 1e-6f), t->rms_scale(x.data(), n, 1e-6f)) << t->name << " n=" << n;
      compare("scale_multiply", [&](const Kernels& k, std::vector<float>& out) { k.scale_multiply(x.data(), 0.7f, y.data(), n, out.data()); });
      compare("silu_multiply", [&](const Kernels& k, std::vector<float>& out) { k.silu_multiply(x.data(), y.data(), n, out.data()); });
      compare("gelu_multiply", [&](const Kernels& k, std::vector<float>& out) { k.gelu_multiply(x.data(), y.data(), n, out.data()); });
      EXPECT_EQ(kScalarKernels.row_max(x.data(), n), t->row_max(x.data(), n));
      EXPECT_EQ(kScalarKernels.argmax(x.data(), n), t->argmax(x.data(), n));
      EXPECT_EQ(kScalarKernels.sum_exp(x.data(), n, 4.0f), t->sum_exp(x.data(), n, 4.0f)) << t->name << " n=" << n;
    }
  }
}

// The passes of the sampler over rows with everything in them: ties, infinities, NaN.
TEST(Rows, SamplerPassesGiveScalarBits) {
  for (const int64_t n : {1, 15, 16, 63, 64, 65, 200, 1024, 5003}) {
    for (const int kind : {0, 1, 2}) {
      auto x = random_floats(size_t(n), uint32_t(n), 3);
      for (size_t i = 0; i < x.size(); ++i) {
        if (kind == 1) x[i] = std::round(x[i]);
        if (kind == 2 && i % 3 == 0) x[i] = i % 2 ? -kInf : kNan;
      }
      const auto blocks = size_t(n + kMaxBlock - 1) / kMaxBlock;
      std::vector<float> maxima(blocks), exps(size_t(n + 1), -1);
      const float max = kScalarKernels.block_max(x.data(), n, maxima.data());
      EXPECT_EQ(max, kScalarKernels.row_max(x.data(), n));
      kScalarKernels.exp_below(x.data(), n, max, exps.data());
      for (const Kernels* t : tables()) {
        std::vector<float> own_maxima(blocks), own_exps(size_t(n + 1), -1);
        EXPECT_EQ(t->block_max(x.data(), n, own_maxima.data()), max) << t->name << " n=" << n;
        EXPECT_EQ(own_maxima, maxima) << t->name << " n=" << n;
        t->exp_below(x.data(), n, max, own_exps.data());
        EXPECT_TRUE(same_bits(own_exps, exps)) << t->name << " n=" << n;
        EXPECT_EQ(t->argmax(x.data(), n), kScalarKernels.argmax(x.data(), n)) << t->name << " n=" << n;
        for (const float above : {-kInf, -2.0f, 0.5f, max - 1, max}) {
          for (const float up_to : {-1.0f, max - 2, kInf}) {
            std::vector<int32_t> ids(size_t(n + 1), -7), own_ids(size_t(n + 1), -7);
            EXPECT_EQ(kScalarKernels.gather(x.data(), n, maxima.data(), above, up_to, ids.data()), t->gather(x.data(), n, own_maxima.data(), above, up_to, own_ids.data()));
            EXPECT_EQ(own_ids, ids) << t->name << " n=" << n << " " << above << " " << up_to;
          }
        }
      }
    }
  }
}

TEST(Rows, LoudTokensAreThoseWithMuchNoise) {
  const PositionNoise noise(3, 1, 99);
  for (const Kernels* t : tables()) {
    for (const int bits : {0, 1, 4, 9}) {
      const uint64_t least = bits ? ~uint64_t(0) << (64 - bits) : 0;
      for (const int64_t n : {1, 63, 64, 130, 4000}) {
        std::vector<int32_t> ids(size_t(n + 1), -7);
        const int64_t count = t->loud(noise, 1000, n, least, ids.data());
        int64_t expected = 0;
        for (int32_t token = 1000; token < 1000 + n; ++token) {
          if (noise.bits(token) < least) continue;
          EXPECT_EQ(ids[size_t(expected++)], token) << t->name;
        }
        EXPECT_EQ(count, expected) << t->name << " " << bits << " " << n;
        EXPECT_EQ(ids[size_t(count)], -7) << t->name;
      }
    }
  }
}

TEST(Rows, RotateMatchesInBothForms) {
  const int half = 24;
  const auto x = random_floats(2 * half, 4), c = random_floats(half, 5), s = random_floats(half, 6);
  for (const bool interleaved : {false, true}) {
    auto expect = x;
    kScalarKernels.rotate(expect.data(), c.data(), s.data(), half, interleaved);
    const int j = interleaved ? 1 : half;
    EXPECT_NEAR(expect[0], x[0] * c[0] - x[size_t(j)] * s[0], 1e-5);
    EXPECT_NEAR(expect[size_t(j)], x[0] * s[0] + x[size_t(j)] * c[0], 1e-5);
    for (const Kernels* t : tables()) {
      auto got = x;
      t->rotate(got.data(), c.data(), s.data(), half, interleaved);
      EXPECT_TRUE(same_bits(expect, got)) << t->name;
    }
  }
}

TEST(Rows, NanNeverWins) {
  std::vector<float> x(40, kNan);
  for (const Kernels* t : tables()) {
    EXPECT_EQ(t->argmax(x.data(), 40), 0) << t->name;
    EXPECT_EQ(t->row_max(x.data(), 40), -kInf) << t->name;
  }
  x[33] = -5, x[35] = -5;
  for (const Kernels* t : tables()) {
    EXPECT_EQ(t->argmax(x.data(), 40), 33) << t->name;
    EXPECT_EQ(t->sum_exp(x.data(), 40, -5), 2.0f) << t->name;
  }
}

TEST(Quantise, HostileValuesGiveTheSameBytes) {
  std::vector<float> x(64, 1.0f);
  x[0] = kNan, x[1] = kInf, x[2] = -kInf, x[40] = 1e-40f;
  TestActivations truth(kScalarKernels, x, 1, 64);
  for (const Kernels* t : tables()) {
    TestActivations a(*t, x, 1, 64);
    EXPECT_EQ(std::memcmp(a.panels.data(), truth.panels.data(), truth.panels.size), 0) << t->name;
  }
}

TEST(Activations, PanelsCoverAllColumnsOnce) {
  for (int n = 1; n <= 64; ++n) {
    Activations a{.columns = n, .k = 32};
    int next = 0;
    for (int p = 0; p < a.panel_count(); ++p) {
      EXPECT_EQ(a.panel_begin(p), next);
      EXPECT_GE(a.panel_width(p), 1);
      EXPECT_LE(a.panel_width(p), kPanelColumns);
      for (int c = 0; c < a.panel_width(p); ++c) EXPECT_EQ(a.panel_of(next + c), p) << n;
      next += a.panel_width(p);
    }
    EXPECT_EQ(next, n);
  }
}

}  // namespace
}  // namespace outrider::kernels::test
