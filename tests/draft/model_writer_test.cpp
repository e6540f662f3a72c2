#include "draft/model_writer.h"

#include <gtest/gtest.h>

#include <numeric>

#include "model/synthetic.h"
#include "support/files.h"

namespace outrider {
namespace {

class Writer : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  ThreadPool pool_{2};
  SteadyClock clock_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<ModelWriter> writer_;

  void SetUp() override {
    ASSERT_TRUE(write_synthetic_model(folder_ / "m.gguf", {.seed = 9}).ok());
    auto loaded = load_model(folder_ / "m.gguf", pool_);
    ASSERT_TRUE(loaded.ok());
    model_ = std::move(*loaded);
    auto made = ModelWriter::make(*model_, kernels::kernels_for(kernels::best_isa()), pool_, clock_, {.context = 512});
    ASSERT_TRUE(made.ok());
    writer_ = std::move(*made);
  }
  // A request whose text is `tokens` and then a pending one. What had to be read of it.
  int64_t read(int64_t request, std::span<const int32_t> tokens) {
    EXPECT_TRUE(writer_->begin(request, tokens, {}).ok());
    const int64_t unread = writer_->unread(request, int64_t(tokens.size()));
    EXPECT_TRUE(writer_->start(request, tokens, 65, unread, nullptr));
    writer_->end(request);
    return unread;
  }
};

// C41: the next turn of a conversation costs the drafting model the new text alone.
TEST_F(Writer, TextThatWasReadIsNotReadAgain) {
  std::vector<int32_t> text(200);
  for (size_t i = 0; i < text.size(); ++i) text[i] = 32 + int32_t(i * i % 89);
  const std::span<const int32_t> all = text;
  EXPECT_EQ(read(1, all.first(150)), 150);
  EXPECT_EQ(read(2, all.first(150)), 0);
  EXPECT_EQ(read(3, all), 50);
  EXPECT_EQ(read(4, all), 0);
  text[100] = 31;
  EXPECT_EQ(read(5, text), 100);
}

}  // namespace
}  // namespace outrider
