#include "text/stream.h"

#include <gtest/gtest.h>

#include "text/stop.h"
#include "text/utf8.h"
#include "vocabularies.h"

namespace outrider {
namespace {

class Stream : public testing::Test {
 protected:
  Tokenizer tokenizer_ = std::move(Tokenizer::make(test::bpe_vocabulary()).value());

  struct Outcome { std::string text; std::optional<size_t> stop; };
  // Feeds the bytes in pieces of the given length.
  Outcome feed(std::string_view bytes, size_t piece, const std::vector<std::string>& stops) {
    TextStream stream(tokenizer_, stops);
    std::string out;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      const std::string text = stream.push_bytes(bytes.substr(at, piece));
      EXPECT_TRUE(is_valid_utf8(text));
      out += text;
    }
    return {out + stream.flush(), stream.stop()};
  }
};

TEST_F(Stream, HoldsBackHalfCharacters) {
  TextStream stream(tokenizer_, {});
  EXPECT_EQ(stream.push_bytes("a\xe4"), "a");
  EXPECT_EQ(stream.push_bytes("\xb8"), "");
  EXPECT_EQ(stream.push_bytes("\xad\xf0\x9f"), "中");
  EXPECT_EQ(stream.push_bytes("\x98\x8a!"), "😊!");
  EXPECT_EQ(stream.push_bytes("\xc3"), "");
  EXPECT_EQ(stream.flush(), "\xef\xbf\xbd");
}

TEST_F(Stream, HoldsBackOnlyWhatMayBecomeAStop) {
  TextStream stream(tokenizer_, {"END", "\n\n"});
  EXPECT_EQ(stream.push_bytes("one E"), "one ");
  EXPECT_EQ(stream.push_bytes("N"), "");
  EXPECT_EQ(stream.push_bytes("TER\n"), "ENTER");
  EXPECT_EQ(stream.push_bytes("x"), "\nx");
  EXPECT_EQ(stream.push_bytes("y\n"), "y");
  EXPECT_FALSE(stream.stopped());
  EXPECT_EQ(stream.push_bytes("\nnever"), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.stop(), 1u);
  EXPECT_EQ(stream.push_bytes("more"), "");
  EXPECT_EQ(stream.flush(), "");
}

TEST_F(Stream, FlushGivesAnUnfinishedStop) {
  TextStream stream(tokenizer_, {"</s>"});
  EXPECT_EQ(stream.push_bytes("x </"), "x ");
  EXPECT_EQ(stream.held_bytes(), 2u);
  EXPECT_EQ(stream.flush(), "</");
}

TEST_F(Stream, SelfOverlappingStops) {
  EXPECT_EQ(feed("aaab", 1, {"aab"}).text, "a");
  EXPECT_EQ(feed("abababc", 2, {"ababc"}).text, "ab");
}

TEST_F(Stream, TheStopThatIsCompleteFirstWins) {
  for (size_t piece : {1, 2, 5, 100}) {
    const Outcome inner = feed("xabcdy", piece, {"abcd", "bc"});
    EXPECT_EQ(inner.text, "xa");
    EXPECT_EQ(inner.stop, 1u);
    const Outcome longer = feed("xabcy", piece, {"c", "abc"});
    EXPECT_EQ(longer.text, "x");
    EXPECT_EQ(longer.stop, 1u);
  }
}

TEST_F(Stream, ResultDoesNotDependOnHowTextIsCut) {
  uint32_t state = 3;
  const char* units[] = {"a", "b", "ab", "é", "\xc3", "中", "\xe4\xb8", "😊", "\xff", "\n", "ba"};
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (int i = 0; i < 12; ++i) state = state * 1664525 + 1013904223, bytes += units[(state >> 16) % std::size(units)];
    const std::vector<std::string> stops = {"abab", "é中", "\nb", ""};
    const Outcome whole = feed(bytes, bytes.size(), stops);
    for (size_t piece = 1; piece < 6; ++piece) {
      const Outcome cut = feed(bytes, piece, stops);
      ASSERT_EQ(cut.text, whole.text) << printable(bytes, 200) << " in pieces of " << piece;
      ASSERT_EQ(cut.stop, whole.stop);
    }
    if (!whole.stop) { ASSERT_EQ(whole.text, replace_invalid_utf8(bytes)); }
  }
}

TEST_F(Stream, TokensAndControlTokens) {
  TextStream shown(tokenizer_, {}, true), hidden(tokenizer_, {});
  std::string a, b;
  for (TokenId id : tokenizer_.encode("the 中<|im_end|>", {.parse_special = true})) a += shown.push(id), b += hidden.push(id);
  EXPECT_EQ(a, "the 中<|im_end|>");
  EXPECT_EQ(b, "the 中");
}

TEST_F(Stream, AnswersTheEngine) {
  std::string text;
  TextStop stop(TextStream(tokenizer_, {" the e"}), [&](std::string_view part, size_t) { text += part; });
  bool stopped = false;
  for (TokenId id : tokenizer_.encode("to the end of the e")) stopped = stopped || stop.push(id);
  stop.finish();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(text, "to");
  text.clear();
  TextStop open(TextStream(tokenizer_, {" the e"}), [&](std::string_view part, size_t) { text += part; });
  for (TokenId id : tokenizer_.encode("to the ")) EXPECT_FALSE(open.push(id));
  open.finish();
  EXPECT_EQ(text, "to the ");
}

TEST_F(Stream, TellsWhoseTheTextIs) {
  TextStream stream(tokenizer_, {"stop now"});
  std::vector<std::pair<std::string, size_t>> given;
  const auto take = [&](const std::string& text) {
    size_t from = 0;
    for (const auto& part : stream.parts()) given.emplace_back(text.substr(from, part.end - from), part.push), from = part.end;
    EXPECT_EQ(from, text.size());
  };
  for (const char* bytes : {"a", " st", "op", " ne", "ver \xe4", "\xb8", "", "\xadx\xff", "\xff st"}) take(stream.push_bytes(bytes));
  take(stream.flush());
  const std::vector<std::pair<std::string, size_t>> expected = {{"a", 0}, {" ", 1}, {"st", 1}, {"op", 2}, {" ne", 3}, {"ver ", 4}, {"中", 4}, {"x\xef\xbf\xbd", 7}, {"\xef\xbf\xbd ", 8}, {"st", 8}};
  EXPECT_EQ(given, expected);
}

TEST_F(Stream, TheEngineHearsOfEachTokensTextByItself) {
  const auto ids = tokenizer_.encode("to the end of it");
  std::string whole;
  size_t last = 0;
  // Everything is held back to the end, for it might yet become the stop string.
  TextStop stop(TextStream(tokenizer_, {"to the end of it all"}), [&](std::string_view part, size_t token) {
    EXPECT_EQ(part, tokenizer_.piece(ids[token]));
    EXPECT_TRUE(whole.empty() || token == last + 1);
    whole += part, last = token;
  });
  for (const TokenId id : ids) EXPECT_FALSE(stop.push(id));
  EXPECT_EQ(whole, "");
  stop.finish();
  EXPECT_EQ(whole, "to the end of it");
  EXPECT_EQ(last + 1, ids.size());
}

}  // namespace
}  // namespace outrider
