#include "base/math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace outrider::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
// ln 2 in two parts: the first has 32 zero bits at its end, so that k * kLn2High is exact for every exponent k.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
// pi/2 in four parts; n times one of the first three (33 bits) is exact for n < 2^20.
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPi1 = 0x1.921fb544p+0, kHalfPi2 = 0x1.0b4611a6p-34, kHalfPi3 = 0x1.3198a2ep-69, kHalfPi4 = 0x1.b839a252049c1p-104;

struct Pair { double high, low; };  // an unevaluated sum, |low| <= ulp(high) / 2

Pair two_sum(double a, double b) {  // Knuth: exact
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

Pair two_product(double a, double b) {  // Dekker: exact without fma, for factors below 2^996
  const auto split = [](double x) {
    const double scaled = x * 134217729.0, high = scaled - (scaled - x);  // 2^27 + 1
    return Pair{high, x - high};
  };
  const double product = a * b;
  const Pair x = split(a), y = split(b);
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

// Adding and taking away 1.5 * 2^52 rounds to the nearest integer under the default rounding mode.
double round_to_integer(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

double power_of_two(int exponent) { return std::bit_cast<double>(uint64_t(exponent + 1023) << 52); }  // -1022 <= exponent <= 1023

// e^(x + low) with |low| far below 1. Reduced to |r| <= ln(2) / 2, where the Taylor series to r^13 is below 2^-57.
double exp_pair(double x, double low) {
  if (x != x) return x;
  if (x > 709.8) return kInfinity;
  if (x < -745.2) return 0;
  const double k = round_to_integer(x * kInverseLn2);
  const double high = x - k * kLn2High, tail = low - k * kLn2Low;  // both products' errors are below 2^-86
  const double r = high + tail, rest = (high - r) + tail;
  double p = 1.0 / 6227020800;
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  const double value = 1 + (r + (rest + r * r * p));
  const int exponent = int(k), half = exponent / 2;  // in two steps: 2^k alone may be out of range where the result is not
  return value * power_of_two(half) * power_of_two(exponent - half);
}

// x = 2^exponent * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). x positive and finite.
struct Reduced { double exponent, f; };
Reduced reduce(double x) {
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  uint64_t bits = std::bit_cast<uint64_t>(x);
  exponent += int(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
  double m = std::bit_cast<double>(bits);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    exponent += 1;
  }
  return {double(exponent), m - 1};
}

// log(1+f) = 2 atanh(s), s = f / (2 + f), |s| < 0.172: this is (2 atanh(s) - 2 s) / s = z (2/3 + 2/5 z + 2/7 z^2 + ...), z = s^2.
double atanh_tail(double z) {
  double p = 2.0 / 25;
  p = p * z + 2.0 / 23;
  p = p * z + 2.0 / 21;
  p = p * z + 2.0 / 19;
  p = p * z + 2.0 / 17;
  p = p * z + 2.0 / 15;
  p = p * z + 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  return p * z;
}

// log x as a sum of two doubles, good to about 60 bits: s itself is carried in two parts, its third power needs only one.
Pair log_pair(double x) {
  const auto [exponent, f] = reduce(x);
  const Pair below = two_sum(2, f);
  const double s = f / below.high;
  const Pair back = two_product(s, below.high);
  const double s_low = (((f - back.high) - back.low) - s * below.low) / below.high;
  const Pair whole = two_sum(exponent * kLn2High, 2 * s);
  const double rest = whole.low + (2 * s_low + (s * atanh_tail(s * s) + exponent * kLn2Low));
  return two_sum(whole.high, rest);
}

}  // namespace

double exp(double x) { return exp_pair(x, 0); }

double log(double x) {
  if (!(x > 0)) return x == 0 ? -kInfinity : kNan;
  if (x == kInfinity) return x;
  const auto [k, f] = reduce(x);
  const double s = f / (2 + f), half_square = 0.5 * f * f;
  // f - (f^2/2 - s (f^2/2 + tail)): f is exact, so that only the small correction carries rounding.
  const double correction = half_square - (s * (half_square + atanh_tail(s * s)) + k * kLn2Low);
  return k * kLn2High - (correction - f);
}

SinCos sincos(double x) {
  if (!(x - x == 0)) return {kNan, kNan};
  if (x > 1.5e6 || x < -1.5e6) x = std::fmod(x, 0x1.921fb54442d18p+2);  // fmod is exact by definition
  const double n = round_to_integer(x * kTwoOverPi);
  const Pair a = two_sum(x - n * kHalfPi1, -(n * kHalfPi2));  // x - n kHalfPi1 is exact (Sterbenz)
  const Pair b = two_sum(a.high, -(n * kHalfPi3));
  const Pair reduced = two_sum(b.high, (a.low + b.low) - n * kHalfPi4);
  const double r = reduced.high, tail = reduced.low, z = r * r;

  double p = 1.0 / 355687428096000;
  p = p * z - 1.0 / 1307674368000;
  p = p * z + 1.0 / 6227020800;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  const double half = 0.5 * z, one_less = 1 - half;
  const double sine = r + (r * z * p + tail * one_less);

  double q = 1.0 / 20922789888000;
  q = q * z - 1.0 / 87178291200;
  q = q * z + 1.0 / 479001600;
  q = q * z - 1.0 / 3628800;
  q = q * z + 1.0 / 40320;
  q = q * z - 1.0 / 720;
  q = q * z + 1.0 / 24;
  const double cosine = one_less + (((1 - one_less) - half) + (z * z * q - r * tail));

  switch (int(int64_t(n) & 3)) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

double pow(double base, double exponent) {
  if (!(base > 0)) return kNan;
  if (exponent == 0 || base == 1) return 1;
  if (base == kInfinity || !(exponent - exponent == 0)) return exp(exponent * log(base));
  const Pair l = log_pair(base), product = two_product(l.high, exponent);
  if (!(product.high < 800 && product.high > -800)) return exp(product.high);
  return exp_pair(product.high, product.low + l.low * exponent);
}

}  // namespace outrider::math
