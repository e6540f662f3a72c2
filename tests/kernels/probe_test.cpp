#include <gtest/gtest.h>

#include "kernels/support.h"

namespace outrider::kernels::test {
namespace {

// Every test here goes over tables(), which leaves out what the machine has not got: this says which that is.
class Tables : public testing::TestWithParam<const char*> {};
constexpr const char* kNames[] = {"scalar", "avx2", "avxvnni", "avx512"};
static_assert(std::size(kNames) == std::size(kAllIsas));

TEST_P(Tables, AreTestedWhereTheMachineHasThem) {
  Isa isa{};
  ASSERT_TRUE(parse_isa(GetParam(), isa));
  if (!isa_supported(isa)) GTEST_SKIP() << "this machine has no " << GetParam() << ": its kernels go untested";
  EXPECT_STREQ(kernels_for(isa).name, GetParam());
  EXPECT_EQ(std::ranges::count(tables(), &kernels_for(isa)), 1);
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, Tables, testing::ValuesIn(kNames), [](const auto& name) { return std::string(name.param); });

TEST(Probes, ReadAddsUpEveryWord) {
  std::vector<uint32_t> words(64 * 33);
  uint32_t sum = 0;
  for (size_t i = 0; i < words.size(); ++i) sum += words[i] = uint32_t(i * 2654435761u);
  for (const Kernels* t : tables()) EXPECT_EQ(t->probe_read(reinterpret_cast<const std::byte*>(words.data()), int64_t(words.size() * 4)), sum) << t->name;
}

TEST(Probes, DotsDoTheProductsTheyAreCountedFor) {
  std::vector<std::byte> codes(64);
  std::vector<int8_t> a(kProbeWords * 4);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = std::byte(i);
  for (size_t i = 0; i < a.size(); ++i) a[i] = int8_t(i % 2 ? 127 - i : i - 100);
  int64_t once = 0;
  for (size_t i = 0; i < a.size(); i += 4)
    for (size_t k = 0; k < 64; ++k) once += int64_t(k) * a[i + k % 4];
  for (const Kernels* t : tables())
    for (const int64_t rounds : {0, 1, 3, 1000}) EXPECT_EQ(t->probe_dots(codes.data(), reinterpret_cast<const int32_t*>(a.data()), rounds), uint32_t(once * rounds)) << t->name;
}

}  // namespace
}  // namespace outrider::kernels::test
