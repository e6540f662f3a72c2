#include <gtest/gtest.h>

#include "kernels/support.h"

namespace outrider::kernels::test {
namespace {

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
