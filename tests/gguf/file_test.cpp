#include "gguf/file.h"

#include <gtest/gtest.h>

#include <thread>

#include "gguf/describe.h"
#include "gguf/reencode.h"
#include "gguf/writer.h"
#include "quant/decode.h"
#include "quant/encode.h"
#include "support/files.h"

namespace outrider {
namespace {

std::vector<std::byte> counting_bytes(size_t n, int start = 0) {
  std::vector<std::byte> bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = std::byte(uint8_t(start + int(i)));
  return bytes;
}

void expect_error(const auto& result, const std::string& part) {
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << "wanted: " << part << "\ngot: " << result.error().message;
}

GgufWriter sample_writer() {
  GgufWriter w;
  w.set_string("general.architecture", "llama");
  w.set_u32("a.u32", 7), w.set_i32("a.i32", -7), w.set_u64("a.u64", 1ull << 40), w.set_f32("a.f32", 0.5f), w.set_bool("a.bool", true), w.set_u16("a.u16", 3);
  w.set_strings("a.strings", std::vector<std::string>{"x", "", "Ġé\n"});
  w.set_i32s("a.i32s", std::vector<int32_t>{1, -2, 3});
  w.set_f32s("a.f32s", std::vector<float>{1.5f, -2});
  w.add_tensor("first", QuantType::q4_0, {64, 3}, counting_bytes(108));
  w.add_tensor("second", QuantType::f32, {5}, counting_bytes(20, 100));
  w.add_tensor("third", QuantType::iq2_xxs, {256}, [] { return Result<GgufWriter::Bytes>(counting_bytes(66)); });
  return w;
}

class SampleFile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sample_writer().write(path_));
    auto file = GgufFile::open(path_);
    ASSERT_TRUE(file) << file.error().message;
    file_.emplace(std::move(*file));
  }
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "m.gguf";
  std::optional<GgufFile> file_;
};

TEST_F(SampleFile, ReadsTheKeysBack) {
  const GgufFile& f = *file_;
  EXPECT_EQ(*f.uint("a.u32"), 7u);
  EXPECT_EQ(*f.integer("a.i32"), -7);
  EXPECT_EQ(*f.uint("a.u64"), 1ull << 40);
  EXPECT_EQ(*f.number("a.f32"), 0.5f);
  EXPECT_EQ(*f.number("a.u32"), 7.0f);
  EXPECT_TRUE(*f.boolean("a.bool"));
  EXPECT_EQ(*f.string("general.architecture"), "llama");
  EXPECT_EQ(*f.strings("a.strings"), (std::vector<std::string_view>{"x", "", "Ġé\n"}));
  EXPECT_EQ(*f.integers("a.i32s"), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(*f.numbers("a.f32s"), (std::vector<float>{1.5f, -2}));
}

TEST_F(SampleFile, NamesWrongAndMissingKeys) {
  const GgufFile& f = *file_;
  expect_error(f.uint("b"), "key 'b' is missing");
  expect_error(f.uint("a.i32"), "key 'a.i32' is -7, which must not be negative");
  expect_error(f.uint("a.f32"), "key 'a.f32' is f32, not an integer");
  expect_error(f.string("a.strings"), "an array of string, not a string");
  expect_error(f.integers("a.u32"), "u32, not an array of integers");
  EXPECT_EQ(*f.uint_or("b", 5), 5u);
  EXPECT_EQ(*f.uint_or("a.u32", 5), 7u);
  EXPECT_FALSE(f.uint_or("a.f32", 5));
  EXPECT_EQ(*f.string_or("b", "none"), "none");
}

TEST_F(SampleFile, TypesWithoutADecoderOpenButAreNamedBeforeARun) {
  auto runnable = file_->check_runnable();
  expect_error(runnable, "tensor 'third' has type IQ2_XXS");
  EXPECT_NE(runnable.error().hint.find("Q4_K"), std::string::npos);
}

TEST_F(SampleFile, AFileThatShrinksGivesAnError) {
  std::filesystem::resize_file(path_, 200);
  std::vector<std::byte> bytes(108);
  expect_error(file_->read(*file_->find_tensor("first"), 0, bytes), "ends at");
}

TEST_F(SampleFile, AForgottenTensorIsReadFromTheFileAgain) {
  const TensorInfo& tensor = *file_->find_tensor("first");
  file_->forget(tensor);
  std::vector<std::byte> bytes(108);
  ASSERT_TRUE(file_->read(tensor, 0, bytes));
  EXPECT_EQ(bytes, counting_bytes(108));
}

TEST_F(SampleFile, DescribeSumsItUp) {
  const FileSummary s = describe(*file_);
  EXPECT_EQ(s.architecture, "llama");
  EXPECT_EQ(s.parameters, 64u * 3 + 5 + 256);
  EXPECT_EQ(s.tensor_bytes, 108u + 20 + 66);
  ASSERT_EQ(s.types.size(), 3u);
  EXPECT_EQ(s.types[0].name, "Q4_0");
  EXPECT_FALSE(s.types[1].runnable);
  ASSERT_EQ(s.keys.size(), 10u);
  EXPECT_EQ(s.keys[7].value, "3 × string [\"x\", \"\", \"\\xc4\\xa0\\xc3\\xa9\\x0a\"]");
  EXPECT_EQ(s.keys[8].value, "3 × i32 [1, -2, 3]");
  EXPECT_EQ(s.keys[4].value, "0.5");
  EXPECT_EQ(dims_text(file_->tensors()[0]), "[64 × 3]");
}

TEST_F(SampleFile, AFailedWriteLeavesTheOldFile) {
  const std::string before = test::read_file(path_);
  GgufWriter w = sample_writer();
  w.add_tensor("bad", QuantType::f32, {1}, [] { return Result<GgufWriter::Bytes>(Error{"no bytes today", ""}); });
  expect_error(w.write(path_), "no bytes today");
  EXPECT_EQ(test::read_file(path_), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
  expect_error(w.write(folder_ / "missing/m.gguf"), "No such file");
}

TEST_F(SampleFile, KeysAreCopiedByteForByte) {
  GgufWriter w;
  w.copy_keys(*file_);
  ASSERT_TRUE(w.write(folder_ / "b.gguf"));
  auto b = GgufFile::open(folder_ / "b.gguf");
  ASSERT_TRUE(b) << b.error().message;
  ASSERT_EQ(file_->keys().size(), b->keys().size());
  for (size_t i = 0; i < b->keys().size(); ++i) {
    EXPECT_EQ(file_->keys()[i].name, b->keys()[i].name);
    const auto x = file_->raw(file_->keys()[i]), y = b->raw(b->keys()[i]);
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end())) << b->keys()[i].name;
  }
}

TEST(Reencode, MatricesChangeAndTheRestStays) {
  test::TemporaryFolder folder;
  GgufWriter w;
  w.set_string("general.architecture", "llama"), w.set_u32("general.file_type", 2);
  w.add_tensor("matrix", QuantType::q4_0, {64, 3}, random_blocks(QuantType::q4_0, 192, 1, 1));
  w.add_tensor("odd", QuantType::f32, {5, 2}, counting_bytes(40));
  w.add_tensor("norm", QuantType::f32, {64}, counting_bytes(256));
  ASSERT_TRUE(w.write(folder / "a.gguf"));
  auto a = GgufFile::open(folder / "a.gguf");
  ASSERT_TRUE(a);
  ASSERT_TRUE(reencode(*a, folder / "b.gguf", QuantType::q8_0));
  auto b = GgufFile::open(folder / "b.gguf");
  ASSERT_TRUE(b) << b.error().message;
  EXPECT_EQ(b->find_tensor("matrix")->type, QuantType::q8_0);
  EXPECT_EQ(b->find_tensor("odd")->type, QuantType::f32);
  EXPECT_EQ(b->find_tensor("norm")->type, QuantType::f32);
  EXPECT_TRUE(b->has("general.architecture"));
  EXPECT_FALSE(b->has("general.file_type"));
  std::vector<std::byte> old_bytes(108), new_bytes(204);
  std::vector<float> old_values(192), new_values(192);
  ASSERT_TRUE(a->read(*a->find_tensor("matrix"), 0, old_bytes));
  ASSERT_TRUE(b->read(*b->find_tensor("matrix"), 0, new_bytes));
  decode(QuantType::q4_0, old_bytes.data(), 192, old_values.data());
  decode(QuantType::q8_0, new_bytes.data(), 192, new_values.data());
  for (size_t i = 0; i < 192; ++i) EXPECT_NEAR(old_values[i], new_values[i], 0.02) << i;
  expect_error(reencode(*a, folder / "c.gguf", QuantType::iq2_xxs), "cannot encode to IQ2_XXS");
}

TEST(GgufFile, TensorsAtEveryAlignment) {
  test::TemporaryFolder folder;
  for (uint32_t alignment : {32u, 64u, 4096u}) {
    GgufWriter w = sample_writer();
    w.set_alignment(alignment);
    ASSERT_TRUE(w.write(folder / "m.gguf"));
    auto f = GgufFile::open(folder / "m.gguf");
    ASSERT_TRUE(f) << f.error().message;
    EXPECT_EQ(f->alignment(), alignment);
    ASSERT_EQ(f->tensors().size(), 3u);
    const TensorInfo* first = f->find_tensor("first");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->dims, (std::vector<uint64_t>{64, 3}));
    EXPECT_EQ(first->offset_bytes % alignment, 0u);
    std::vector<std::byte> bytes(108), tail(8);
    ASSERT_TRUE(f->read(*first, 0, bytes));
    EXPECT_EQ(bytes, counting_bytes(108));
    ASSERT_TRUE(f->read(*first, 100, tail));
    EXPECT_EQ(tail, counting_bytes(8, 100));
    EXPECT_FALSE(f->find_tensor("fourth"));
    expect_error(f->tensor("fourth"), "tensor 'fourth' is missing");
  }
}

TEST(GgufFile, ThreadsReadAtOnce) {
  test::TemporaryFolder folder;
  GgufWriter w;
  w.add_tensor("t", QuantType::i8, {1 << 16}, counting_bytes(1 << 16));
  ASSERT_TRUE(w.write(folder / "m.gguf"));
  auto f = GgufFile::open(folder / "m.gguf");
  ASSERT_TRUE(f);
  std::vector<std::jthread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&f, n] {
      for (size_t at = size_t(n); at + 100 < (1 << 16); at += 977) {
        std::vector<std::byte> bytes(100);
        EXPECT_TRUE(f->read(*f->find_tensor("t"), at, bytes));
        EXPECT_EQ(bytes, counting_bytes(100, int(at)));
      }
    });
}

void write_shards(const test::TemporaryFolder& folder, uint16_t claimed_total = 3) {
  for (uint16_t i = 0; i < 3; ++i) {
    GgufWriter w;
    if (i == 0) w.set_string("general.architecture", "llama");
    w.set_u16("split.no", i), w.set_u16("split.count", 3), w.set_i32("split.tensors.count", claimed_total);
    w.add_tensor("t" + std::to_string(i), QuantType::f32, {8}, counting_bytes(32, i * 50));
    ASSERT_TRUE(w.write(folder / ("m-0000" + std::to_string(i + 1) + "-of-00003.gguf")));
  }
}

TEST(GgufFile, SplitModels) {
  test::TemporaryFolder folder;
  write_shards(folder);
  auto f = GgufFile::open(folder / "m-00001-of-00003.gguf");
  ASSERT_TRUE(f) << f.error().message;
  EXPECT_EQ(f->shard_count(), 3u);
  EXPECT_EQ(f->tensors().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    std::vector<std::byte> bytes(32);
    ASSERT_TRUE(f->read(*f->find_tensor("t" + std::to_string(i)), 0, bytes));
    EXPECT_EQ(bytes, counting_bytes(32, i * 50));
  }
  auto second = GgufFile::open(folder / "m-00002-of-00003.gguf");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().hint.find("m-00001-of-00003.gguf"), std::string::npos);
}

TEST(GgufFile, SplitModelsThatAreWrong) {
  test::TemporaryFolder folder;
  const std::string first = folder / "m-00001-of-00003.gguf", second = folder / "m-00002-of-00003.gguf", third = folder / "m-00003-of-00003.gguf";
  write_shards(folder, 4);
  expect_error(GgufFile::open(first), "'split.tensors.count' is 4");
  write_shards(folder);
  std::filesystem::copy_file(third, second, std::filesystem::copy_options::overwrite_existing);
  expect_error(GgufFile::open(first), "says it is part 3 of 3, not part 2");
  std::filesystem::remove(second);
  expect_error(GgufFile::open(first), "m-00002-of-00003.gguf");
  std::filesystem::rename(first, folder / "renamed.gguf");
  expect_error(GgufFile::open(folder / "renamed.gguf"), "'split.count'");
}

}  // namespace
}  // namespace outrider
