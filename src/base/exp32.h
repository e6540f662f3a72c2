#pragma once
// The float exponential of every kernel. The vector kernels repeat these steps lane by lane, so the bits agree everywhere.
//
//   n = round(x·log2 e),  r = x − n·ln 2 (two-part, fused),  exp(x) = 2^n · P(r),  |r| ≤ ln2/2
//
// P is the Taylor polynomial of degree 7 in Horner form with fma: relative error below 2.4e-7. x below −87.33 gives +0
// (so does −infinity), x above 88.37 is clamped, NaN gives +0.
#include <bit>
#include <cmath>
#include <cstdint>

namespace outrider {

struct Exp32 {
  static constexpr float kLow = -87.33f, kHigh = 88.37f;
  static constexpr float kLog2E = 1.44269504f;
  static constexpr float kRound = 12582912.0f;  // 1.5·2^23: adding and subtracting it rounds to the nearest integer, ties to even
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kTerms[8] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
};

inline float exp32(float x) {
  if (!(x > Exp32::kLow)) return 0.0f;
  const float clamped = x < Exp32::kHigh ? x : Exp32::kHigh;
  const float n = std::fma(clamped, Exp32::kLog2E, Exp32::kRound) - Exp32::kRound;
  const float r = std::fma(n, -Exp32::kLn2Low, std::fma(n, -Exp32::kLn2High, clamped));
  float p = Exp32::kTerms[0];
  for (int i = 1; i < 8; ++i) p = std::fma(p, r, Exp32::kTerms[i]);
  return p * std::bit_cast<float>((int32_t(n) + 127) << 23);
}

}  // namespace outrider
