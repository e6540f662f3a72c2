// The end of a pass: logits, of the whole vocabulary or of the tiles that were asked for.
#include <limits>

#include "base/check.h"
#include "model/pass.h"

namespace outrider {

using kernels::Activations;

// Rows of logits outlive passes, and only the tiles named are written to: what is −infinity stays so until its tile is named.
void Pass::restrict_head(std::span<const int32_t> tiles) {
  const int32_t all = int32_t((config_->vocabulary + kernels::kTileRows - 1) / kernels::kTileRows);
  OUTRIDER_CHECK(tiles.size() <= size_t(all) && (tiles.empty() || (tiles.front() >= 0 && tiles.back() < all)));
  size_t i = 0;
  const auto silence_unless_named = [&](int32_t tile) {  // called with ascending tiles
    while (i < tiles.size() && tiles[i] < tile) ++i;
    if (i == tiles.size() || tiles[i] != tile) silence(tile);
  };
  if (!tiles.empty() && head_tiles_.empty())
    for (int32_t tile = 0; tile < all; ++tile) silence_unless_named(tile);
  else if (!tiles.empty())
    for (const int32_t tile : head_tiles_) silence_unless_named(tile);
  head_tiles_.assign(tiles.begin(), tiles.end());
}

void Pass::silence(int32_t tile) {
  const int64_t first = int64_t(tile) * kernels::kTileRows, end = std::min(first + kernels::kTileRows, config_->vocabulary);
  for (int row = 0; row < max_logits_; ++row) {
    float* logits = logits_ + row * config_->vocabulary;
    std::fill(logits + first, logits + end, -std::numeric_limits<float>::infinity());
  }
}

// An item is a stretch of the list. Tiles that are neighbours in the matrix go to the kernel together, so that it can fetch ahead.
void Pass::multiply_tiles(const Activations& n, const kernels::Matrix& output) {
  const int64_t count = int64_t(head_tiles_.size()), step = tiles_of_item(output);
  pool_->run((count + step - 1) / step, [&](int64_t item) {
    const int32_t *tile = head_tiles_.data() + item * step, *end = head_tiles_.data() + std::min(count, (item + 1) * step);
    while (tile < end) {
      const int32_t* last = tile;
      while (last + 1 < end && last[1] == last[0] + 1) ++last;
      kernels_->multiply(output, n, *tile, *last + 1, {.values = logits_, .stride = config_->vocabulary});
      tile = last + 1;
    }
  });
  done(PassPart::head);
  count_multiply(PassPart::head, output, count, n);
}

// Rows move down, the first of them first, so that none is overwritten before it has moved.
void Pass::keep_wanted(float* mixed) {
  const int64_t width = config_->width, query_width = config_->query_width();
  for (int i = 0; i < logit_rows(); ++i) {
    const int from = logit_rows_[size_t(i)];
    if (from == i) continue;
    std::copy_n(stream_ + from * width, width, stream_ + i * width);
    std::copy_n(mixed + from * query_width, query_width, mixed + i * query_width);
    rows_[size_t(i)] = rows_[size_t(from)], logit_rows_[size_t(i)] = i;
  }
  rows_.resize(size_t(logit_rows()));
}

void Pass::project(const float* x, const float* norm_weight, const kernels::Matrix& output) {
  if (rows() == 0) return;
  const Activations a = norm(x, norm_weight);
  if (!head_tiles_.empty()) return multiply_tiles(a, output);
  const Product product{&output, nullptr, logits_};
  multiply_rows(PassPart::head, a, {&product, 1}, &config_->vocabulary);
}

}  // namespace outrider
