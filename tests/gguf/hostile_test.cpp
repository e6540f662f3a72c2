// Files that must be refused: each with one error that names the file, the place and the reason, and without taking memory on a file's word.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "gguf/file.h"
#include "gguf/raw_gguf.h"
#include "support/files.h"

namespace outrider {
namespace {

using test::RawGguf;

class HostileGguf : public testing::Test {
 protected:
  // The error's message and hint; «opened» when there was none.
  std::string refusal(std::string_view bytes) {
    const std::string path = folder_ / "model.gguf";
    test::write_file(path, bytes);
    auto file = GgufFile::open(path);
    if (file) return "opened";
    EXPECT_NE(file.error().message.find(path), std::string::npos) << file.error().message;
    EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
    return file.error().message + " — " + file.error().hint;
  }
  void expect_refused(const RawGguf& raw, const std::string& part) { expect_refused(raw.bytes, part); }
  void expect_refused(std::string_view bytes, const std::string& part) {
    const std::string got = refusal(bytes);
    EXPECT_NE(got.find(part), std::string::npos) << "wanted: " << part << "\ngot: " << got;
  }
  test::TemporaryFolder folder_;
};

TEST_F(HostileGguf, ThingsThatAreNoModel) {
  expect_refused("", "is empty");
  expect_refused("GG", "not a GGUF file");
  expect_refused("just some text\n", "starts with 'just some text\\x0a'");
  expect_refused("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "is a Git LFS pointer, not the model");
  expect_refused("<!DOCTYPE html><html>", "web page");
  expect_refused("GGUF\x03", "truncated: it ends at 5");
  auto folder = GgufFile::open(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("is a directory"), std::string::npos);
  auto missing = GgufFile::open(folder_ / "none.gguf");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  EXPECT_FALSE(GgufFile::open(""));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto fifo = GgufFile::open(pipe);
  ASSERT_FALSE(fifo);
  EXPECT_NE(fifo.error().message.find("not a regular file"), std::string::npos);
}

TEST_F(HostileGguf, Versions) {
  for (uint32_t version : {0u, 4u, 99u}) expect_refused(RawGguf().head(0, 0, version), "GGUF version " + std::to_string(version) + " is unknown");
  expect_refused(RawGguf().head(0, 0, 1), "version 1 is no longer used");
  expect_refused(RawGguf().head(0, 0, 0x03000000), "version 3 in big-endian");
  EXPECT_EQ(refusal(RawGguf().head(0, 0, 2).bytes), "opened");
}

TEST_F(HostileGguf, CountsBeyondTheFile) {
  expect_refused(RawGguf().head(1ull << 60, 0).zeros(100), "offset 8: a tensor count of 1152921504606846976");
  expect_refused(RawGguf().head(0, 1ull << 60).zeros(100), "offset 16: a key count of 1152921504606846976");
  expect_refused(RawGguf().head(0, ~0ull).zeros(100), "a key count of 18446744073709551615");
  expect_refused(RawGguf().head(0, 1).text("k").u32(8).u64(1ull << 63).zeros(20), "claims 9223372036854775808 bytes, but only 20 follow");
  expect_refused(RawGguf().head(0, 1).u64(1ull << 63).zeros(20), "offset 24: key claims 9223372036854775808 bytes");
  expect_refused(RawGguf().head(0, 1).text("k").u32(9).u32(4).u64(1ull << 62).zeros(20), "array 'k' claims 4611686018427387904 elements");
  expect_refused(RawGguf().head(0, 1).text("k").u32(9).u32(8).u64(~0ull).zeros(20), "array 'k' claims 18446744073709551615 elements");
}

TEST_F(HostileGguf, KeysThatAreWrong) {
  expect_refused(RawGguf().head(0, 1).text("").u32(0).u8(1).zeros(1), "a key has an empty name");
  expect_refused(RawGguf().head(0, 1).text("k").u32(9).u32(99).u64(1ull << 60).zeros(20), "unknown value type 99");
  expect_refused(RawGguf().head(0, 1).text("k").u32(13).zeros(20), "key 'k' has unknown value type 13");
  expect_refused(RawGguf().head(0, 1).text("k").u32(7).u8(2), "a bool that is 2");
  expect_refused(RawGguf().head(0, 2).key_u32("k", 1).key_u32("k", 1), "key 'k' appears twice");
  expect_refused(RawGguf().head(0, 1).text(std::string(300, 'k')).u32(4).u32(1), "a name of 300 bytes");
  expect_refused(RawGguf().head(0, 1).text("bad\x01\xff\n").u32(50).u32(1), "key 'bad\\x01\\xff\\x0a'");
  RawGguf nested = RawGguf().head(0, 1).text("k").u32(9);
  for (int i = 0; i < 10000; ++i) nested.u32(9).u64(1);
  expect_refused(nested, "is an array of arrays");
}

TEST_F(HostileGguf, Alignment) {
  for (uint32_t value : {0u, 3u, 48u, 1u << 30}) expect_refused(RawGguf().head(0, 1).key_u32("general.alignment", value), "alignment " + std::to_string(value));
  expect_refused(RawGguf().head(0, 1).text("general.alignment").u32(8).text("32"), "'general.alignment' is string, not u32");
}

RawGguf with_tensor(std::initializer_list<uint64_t> dims, uint32_t type, uint64_t offset, size_t data = 256) {
  return RawGguf().head(1, 0).tensor("T", dims, type, offset).pad().zeros(data);
}

TEST_F(HostileGguf, TensorsThatAreWrong) {
  expect_refused(with_tensor({}, 0, 0), "has 0 dimensions");
  expect_refused(with_tensor({1, 1, 1, 1, 1}, 0, 0), "has 5 dimensions");
  expect_refused(with_tensor({4, 0}, 0, 0), "a dimension of 0");
  expect_refused(with_tensor({1ull << 40, 1ull << 40}, 0, 0), "more elements than a file can hold");
  expect_refused(with_tensor({1ull << 62}, 0, 0), "more bytes than a file can hold");
  expect_refused(with_tensor({33}, 2, 0), "rows of 33 values, which is no multiple of the 32 in a block of Q4_0");
  expect_refused(with_tensor({64}, 199, 0), "tensor 'T' has unknown type 199");
  expect_refused(with_tensor({64}, 199, 0), "IQ4_XS");
  expect_refused(with_tensor({64}, 4, 0), "unknown type 4");
  expect_refused(with_tensor({64}, 0, 8), "starts at 8, which is not a multiple of the alignment 32");
  expect_refused(with_tensor({64}, 0, 1 << 20), "file ends at 320, tensor 'T' needs bytes up to 1048896");
  expect_refused(with_tensor({64000}, 0, 0), "file ends at 320, tensor 'T' needs bytes up to 256064");
  expect_refused(with_tensor({64}, 0, ~0ull - 31), "tensor 'T' needs bytes beyond 2^63");
  expect_refused(RawGguf().head(1, 0).tensor("", {8}, 0, 0).pad().zeros(64), "a tensor has an empty name");
  expect_refused(RawGguf().head(2, 0).tensor("A", {8}, 0, 0).tensor("A", {8}, 0, 32).pad().zeros(64), "tensor 'A' appears twice");
  expect_refused(RawGguf().head(2, 0).tensor("A", {16}, 0, 0).tensor("B", {8}, 0, 32).pad().zeros(64), "tensors 'A' and 'B' overlap at offset");
  expect_refused(RawGguf().head(2, 0).tensor("A", {8}, 0, 0).tensor("B", {8}, 0, 0).pad().zeros(64), "overlap");
  expect_refused(RawGguf().head(2, 0).tensor("A", {8}, 0, 0).tensor("B", {8}, 0, 64).pad().zeros(96), "where tensor 'A' of type F32 ends");
  expect_refused(RawGguf().head(1, 0).tensor("A", {8}, 0, 32).pad().zeros(64), "tensor 'A' starts at 96 instead of 64, where the data begin");
  EXPECT_EQ(refusal(with_tensor({64}, 0, 0).bytes), "opened");
  EXPECT_EQ(refusal(with_tensor({64}, 0, 0, 4096).bytes), "opened") << "bytes after the last tensor are allowed";
}

TEST_F(HostileGguf, EveryTruncationIsRefused) {
  RawGguf whole = RawGguf().head(2, 4).key_u32("a", 1).text("b").u32(8).text("text").text("c").u32(9).u32(8).u64(2).text("x").text("yy");
  whole.text("d").u32(9).u32(6).u64(2).number(1.0f).number(2.0f);
  whole.tensor("A", {32, 2}, 2, 0).tensor("B", {8}, 0, 64).pad().zeros(96);
  ASSERT_EQ(refusal(whole.bytes), "opened");
  for (size_t n = 0; n < whole.bytes.size(); ++n) ASSERT_NE(refusal(whole.bytes.substr(0, n)), "opened") << "cut to " << n;
}

TEST_F(HostileGguf, EveryChangedByteIsReadOrRefused) {
  RawGguf whole = RawGguf().head(1, 2).text("c").u32(9).u32(8).u64(2).text("x").text("yy").key_u32("general.alignment", 32);
  whole.tensor("A", {32, 2}, 2, 0).pad().zeros(64);
  ASSERT_EQ(refusal(whole.bytes), "opened");
  for (size_t i = 0; i < whole.bytes.size(); ++i)
    for (char change : {'\x01', '\x40', '\x7f', '\xff'}) {
      std::string bytes = whole.bytes;
      bytes[i] = char(bytes[i] ^ change);
      (void)refusal(bytes);
    }
}

TEST_F(HostileGguf, LargeSparseFilesTakeNoMemory) {
  const std::string path = folder_ / "model.gguf";
  struct Case { RawGguf raw; const char* what; };
  const Case cases[] = {{RawGguf().head(0, 1).text("k").u32(8).u64(1ull << 33), "a string of 8 GiB"},
                        {RawGguf().head(0, 1).text("k").u32(9).u32(8).u64(1ull << 29), "half a billion empty strings"},
                        {RawGguf().head(1u << 30, 0), "a billion tensors"},
                        {RawGguf().head(0, 1u << 30), "a billion keys"}};
  for (const Case& c : cases) {
    test::write_file(path, c.raw.bytes);
    std::filesystem::resize_file(path, 20ull << 30);
    EXPECT_FALSE(GgufFile::open(path)) << c.what;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 200 * 1024);
#endif
}

}  // namespace
}  // namespace outrider
