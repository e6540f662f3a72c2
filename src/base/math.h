#pragma once
// exp, log, sin, cos and pow of our own. A text must not depend on the C library or the processor it runs on, and libm promises
// neither; these use only IEEE additions, multiplications and divisions in a written order, so their bits are the same everywhere.
// Error: at most 2 units in the last place (see each function), checked against 80-bit arithmetic in tests/base/math_test.cpp.
namespace outrider::math {

// e^x. Over the whole range, subnormal results included (correct to 1 unit there); NaN -> NaN, overflow -> inf.
double exp(double x);

// Natural logarithm. log(0) = -inf, log(x < 0) = NaN.
double log(double x);

// Both at once, x in radians. The stated error holds for |x| <= 1.5e6 (positions of a million tokens); beyond, x is first reduced
// by the nearest double to 2 pi, so the error grows with |x|. inf and NaN -> NaN.
struct SinCos { double sin, cos; };
SinCos sincos(double x);

// base^exponent for base > 0, through a logarithm of about 60 bits; the stated error holds while |exponent * log(base)| <= 64.
double pow(double base, double exponent);

}  // namespace outrider::math
