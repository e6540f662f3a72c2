// Decoders against the values that another implementation (see tools/make_quant_goldens.py) gives for the same blocks, bit for bit.
#include "quant/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "quant/type.h"

namespace outrider {
namespace {

std::string lower(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

class DecodeGolden : public testing::TestWithParam<QuantType> {};

TEST_P(DecodeGolden, EveryBit) {
  const TypeTraits& t = traits(GetParam());
  const std::string path = std::string(OUTRIDER_SOURCE_DIR) + "/tests/quant/data/" + lower(t.name) + ".golden";
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path;
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  uint32_t head[2];
  std::memcpy(head, bytes.data(), 8);
  ASSERT_EQ(head[0], uint32_t(t.type));
  const size_t n = head[1], block_bytes = *bytes_for(t.type, n);
  ASSERT_EQ(bytes.size(), 8 + block_bytes + 4 * n);
  std::vector<float> got(n), expected(n);
  std::memcpy(expected.data(), bytes.data() + 8 + block_bytes, 4 * n);
  decode(t.type, reinterpret_cast<const std::byte*>(bytes.data() + 8), n, got.data());
  for (size_t i = 0; i < n; ++i) {
    if (std::isnan(expected[i])) { ASSERT_TRUE(std::isnan(got[i])) << t.name << " value " << i; continue; }
    ASSERT_EQ(std::memcmp(&got[i], &expected[i], 4), 0) << t.name << " value " << i << ": " << got[i] << " instead of " << expected[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DecodeGolden, testing::ValuesIn(runnable_types().begin(), runnable_types().end()),
                         [](const auto& p) { return std::string(traits(p.param).name); });

TEST(Decode, AcceptsUnalignedBlocks) {
  for (QuantType type : runnable_types()) {
    std::vector<std::byte> bytes(*bytes_for(type, 256) + 1);
    float out[256];
    decode(type, bytes.data() + 1, 256, out);
    EXPECT_EQ(std::fabs(out[255]), 0.0f) << traits(type).name;
  }
}

TEST(Type, NamesAndSizes) {
  EXPECT_EQ(find_type("q4_k")->type, QuantType::q4_k);
  EXPECT_EQ(find_type(uint32_t(39))->name, "MXFP4");
  for (uint32_t id : {4u, 5u, 31u, 36u, 199u}) EXPECT_EQ(find_type(id), nullptr) << id;
  EXPECT_EQ(find_type("Q9_Z"), nullptr);
  EXPECT_EQ(bytes_for(QuantType::q6_k, 512), 420u);
  EXPECT_FALSE(bytes_for(QuantType::q6_k, 100));
  EXPECT_FALSE(traits(QuantType::iq2_xxs).runnable);
  EXPECT_NE(runnable_type_names().find("IQ4_XS"), std::string::npos);
}

}  // namespace
}  // namespace outrider
