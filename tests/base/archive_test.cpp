#include "base/archive.h"

#include <gtest/gtest.h>

#include <array>

namespace outrider {
namespace {

struct Notes {
  int a = 0;
  std::array<float, 3> b{};
  void archive(Archive& archive) { archive.value(a), archive.value(b); }
};

std::vector<std::byte> written(Notes notes) {
  Archive archive;
  notes.archive(archive);
  return archive.written();
}

TEST(Archive, ReadsWhatWasWritten) {
  const auto bytes = written({7, {1, 2, 3}});
  EXPECT_EQ(bytes.size(), 16u);
  Archive archive{std::span(bytes)};
  Notes back;
  back.archive(archive);
  EXPECT_TRUE(archive.whole());
  EXPECT_EQ(back.a, 7);
  EXPECT_EQ(back.b, (std::array<float, 3>{1, 2, 3}));
}

TEST(Archive, TooFewBytesAndTooManyShow) {
  auto bytes = written({7, {1, 2, 3}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    Archive archive{std::span(bytes).first(size)};
    Notes back{5, {4, 4, 4}};
    back.archive(archive);
    EXPECT_FALSE(archive.whole()) << size;
    EXPECT_EQ(back.b[2], 4) << size;
  }
  bytes.push_back({});
  Archive archive{std::span(bytes)};
  Notes back;
  back.archive(archive);
  EXPECT_FALSE(archive.whole());
}

}  // namespace
}  // namespace outrider
