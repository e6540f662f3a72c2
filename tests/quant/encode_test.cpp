#include "quant/encode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "quant/decode.h"
#include "quant/encode_fast.h"

namespace outrider {
namespace {

// Root of mean squared error over root of mean square, after a round trip of normally distributed values.
double relative_error(QuantType type, float scale, float offset = 0) {
  std::vector<float> x(4096), y(4096);
  random_values(11, scale, x);
  for (float& v : x) v += offset;
  std::vector<std::byte> blocks(*bytes_for(type, x.size()));
  encode(type, x.data(), x.size(), blocks.data());
  decode(type, blocks.data(), x.size(), y.data());
  double error = 0, square = 0;
  for (size_t i = 0; i < x.size(); ++i) error += (double(y[i]) - x[i]) * (double(y[i]) - x[i]), square += double(x[i]) * x[i];
  return std::sqrt(error / square);
}

TEST(Encode, RoundTripErrorOfEveryType) {
  const std::pair<QuantType, double> limits[] = {
      {QuantType::f32, 0},      {QuantType::f16, 4e-4},   {QuantType::bf16, 3e-3},  {QuantType::q8_0, 0.007}, {QuantType::q6_k, 0.020},
      {QuantType::q5_0, 0.045}, {QuantType::q5_1, 0.050}, {QuantType::q5_k, 0.045}, {QuantType::q4_0, 0.095}, {QuantType::q4_1, 0.100},
      {QuantType::q4_k, 0.085}, {QuantType::iq4_nl, 0.090}, {QuantType::iq4_xs, 0.090}, {QuantType::mxfp4, 0.130}, {QuantType::q3_k, 0.180},
      {QuantType::q2_k, 0.35}};
  EXPECT_EQ(std::size(limits), runnable_types().size());
  for (const auto& [type, limit] : limits)
    for (float scale : {0.02f, 1.0f, 40.0f}) EXPECT_LE(relative_error(type, scale), limit) << traits(type).name << " at scale " << scale;
}

TEST(Encode, ZerosStayZero) {
  const std::vector<float> zeros(256, 0.0f);
  for (QuantType type : runnable_types()) {
    std::vector<std::byte> blocks(*bytes_for(type, 256));
    encode(type, zeros.data(), 256, blocks.data());
    float out[256];
    decode(type, blocks.data(), 256, out);
    for (float v : out) ASSERT_EQ(v, 0.0f) << traits(type).name;
  }
}

TEST(Encode, ConstantsAndOneSidedValuesAreKept) {
  for (QuantType type : runnable_types())
    for (float offset : {-3.0f, 3.0f}) EXPECT_LE(relative_error(type, 0.2f, offset), 0.12) << traits(type).name << " around " << offset;
}

TEST(Encode, EncodingDecodedBlocksAgainChangesLittle) {
  for (QuantType type : {QuantType::q8_0, QuantType::f16, QuantType::bf16, QuantType::f32}) {
    const std::vector<std::byte> blocks = random_blocks(type, 512, 3, 0.5f);
    std::vector<float> values(512);
    decode(type, blocks.data(), 512, values.data());
    std::vector<std::byte> again(blocks.size());
    encode(type, values.data(), 512, again.data());
    EXPECT_EQ(again, blocks) << traits(type).name;
  }
}

TEST(EncodeFast, IsAboutAsCloseAsTheLongSearch) {
  std::vector<float> x(4096), y(4096);
  const auto error_of = [&](auto encoder, QuantType type) {
    std::vector<std::byte> blocks(*bytes_for(type, x.size()));
    encoder(type, x.data(), x.size(), blocks.data());
    decode(type, blocks.data(), x.size(), y.data());
    double error = 0;
    for (size_t i = 0; i < x.size(); ++i) error += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
    return std::sqrt(error);
  };
  for (const QuantType type : {QuantType::q4_0, QuantType::iq4_nl})
    for (const float scale : {0.02f, 1.0f, 40.0f})
      for (const float offset : {-3.0f, 0.0f, 3.0f}) {
        random_values(12, scale, x);
        for (float& v : x) v += offset * scale;
        EXPECT_LE(error_of(encode_fast, type), 1.08 * error_of(encode, type)) << traits(type).name << " at scale " << scale << " around " << offset;
      }
}

TEST(EncodeFast, OddBlocksAreKept) {
  for (const QuantType type : {QuantType::q4_0, QuantType::iq4_nl})
    for (const float value : {0.0f, 1e-42f, 3.0f, -3.0f, 60000.0f, INFINITY, NAN}) {
      std::vector<float> x(32, value), y(32);
      std::vector<std::byte> block(*bytes_for(type, 32));
      encode_fast(type, x.data(), 32, block.data());
      decode(type, block.data(), 32, y.data());
      for (int i = 0; i < 32 && std::isfinite(value); ++i) ASSERT_NEAR(y[size_t(i)], value, 1e-3 * std::fabs(value) + 1e-7) << traits(type).name << " of " << value;
    }
}

TEST(RandomValues, HaveTheirScaleAndRepeat) {
  std::vector<float> a(20000), b(20000);
  random_values(5, 0.25f, a);
  random_values(5, 0.25f, b);
  EXPECT_EQ(a, b);
  double sum = 0, square = 0;
  for (float v : a) sum += v, square += double(v) * v;
  EXPECT_NEAR(sum / 20000, 0, 0.01);
  EXPECT_NEAR(std::sqrt(square / 20000), 0.25, 0.01);
  random_values(6, 0.25f, b);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace outrider
