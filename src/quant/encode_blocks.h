#pragma once
// One function per format: the 32 or 256 values of one block → its bytes. Inside quant/ only.
#include "quant/blocks.h"

namespace outrider {

BlockQ4_0 encode_q4_0(const float* x);
BlockQ4_1 encode_q4_1(const float* x);
BlockQ5_0 encode_q5_0(const float* x);
BlockQ5_1 encode_q5_1(const float* x);
BlockQ8_0 encode_q8_0(const float* x);
BlockIq4Nl encode_iq4_nl(const float* x);
BlockMxfp4 encode_mxfp4(const float* x);
BlockQ2K encode_q2_k(const float* x);
BlockQ3K encode_q3_k(const float* x);
BlockQ4K encode_q4_k(const float* x);
BlockQ5K encode_q5_k(const float* x);
BlockQ6K encode_q6_k(const float* x);
BlockIq4Xs encode_iq4_xs(const float* x);

}  // namespace outrider
