#include "text/utf8.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

TEST(Utf8, DecodesEveryLength) {
  EXPECT_EQ(decode_utf8("a", 0).code_point, uint32_t('a'));
  EXPECT_EQ(decode_utf8("é", 0).code_point, 0xe9u);
  EXPECT_EQ(decode_utf8("中", 0).code_point, 0x4e2du);
  EXPECT_EQ(decode_utf8("😊", 0).code_point, 0x1f60au);
  EXPECT_EQ(decode_utf8("\xf4\x8f\xbf\xbf", 0).code_point, 0x10ffffu);
}

TEST(Utf8, RefusesWhatIsNoCharacter) {
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe4\xb8", "\xc3("}) {
    EXPECT_EQ(decode_utf8(bad, 0).code_point, kInvalidCodePoint) << bad;
    EXPECT_EQ(decode_utf8(bad, 0).bytes, 1u);
    EXPECT_FALSE(is_valid_utf8(bad));
  }
  EXPECT_TRUE(is_valid_utf8("aé中😊\n"));
}

TEST(Utf8, IncompleteTail) {
  EXPECT_EQ(incomplete_utf8_tail(""), 0u);
  EXPECT_EQ(incomplete_utf8_tail("abc"), 0u);
  EXPECT_EQ(incomplete_utf8_tail("ab\xc3"), 1u);
  EXPECT_EQ(incomplete_utf8_tail("ab\xe4\xb8"), 2u);
  EXPECT_EQ(incomplete_utf8_tail("\xf0\x9f\x98"), 3u);
  EXPECT_EQ(incomplete_utf8_tail("\xf0\x9f\x98\x8a"), 0u);
  EXPECT_EQ(incomplete_utf8_tail("\xe4\x41"), 0u);
  EXPECT_EQ(incomplete_utf8_tail("\xed\xa0"), 0u) << "the start of a surrogate never becomes a character";
  EXPECT_EQ(incomplete_utf8_tail("\x80\x80"), 0u);
}

TEST(Utf8, ReplacesInvalidBytes) {
  EXPECT_EQ(replace_invalid_utf8("aé中😊"), "aé中😊");
  EXPECT_EQ(replace_invalid_utf8("a\xff" "b"), "a\xef\xbf\xbd" "b");
  EXPECT_EQ(replace_invalid_utf8("\xe4\xb8"), "\xef\xbf\xbd") << "one for a cut-off character";
  EXPECT_EQ(replace_invalid_utf8("\xe4\xb8x"), "\xef\xbf\xbdx");
  EXPECT_EQ(replace_invalid_utf8("\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace outrider
