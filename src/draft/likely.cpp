#include "draft/likely.h"

#include <algorithm>

namespace outrider {

namespace {

constexpr double kMemory = 32;  // tokens over which the share of outsiders is taken
constexpr int64_t kRows = kernels::kTileRows;

}  // namespace

LikelyTokens::LikelyTokens(int64_t vocabulary, std::span<const int32_t> always, const Options& options)
    : vocabulary_(vocabulary), options_(options), always_(always.begin(), always.end()), selected_(size_t((vocabulary + kRows - 1) / kRows)) {
  tiles_.reserve(selected_.size());
  clear();
}

void LikelyTokens::clear() {
  std::fill(selected_.begin(), selected_.end(), false);
  outside_ = 0;
  grow_to(options_.prefix);
  for (const int32_t token : always_)
    if (token >= 0 && token < vocabulary_ && !contains(token)) select(int32_t(token / kRows));
}

void LikelyTokens::add(std::span<const int32_t> tokens) {
  for (const int32_t token : tokens) {
    if (token < 0 || token >= vocabulary_) continue;
    const bool outside = !contains(token);
    if (outside) select(int32_t(token / kRows));
    outside_ += (double(outside) - outside_) / kMemory;
    if (outside_ > options_.most_outside && prefix_ < vocabulary_) grow_to(2 * prefix_), outside_ = 0;
  }
}

void LikelyTokens::select(int32_t tile) {
  selected_[size_t(tile)] = true;
  tiles_.insert(std::lower_bound(tiles_.begin(), tiles_.end(), tile), tile);
}

void LikelyTokens::grow_to(int64_t prefix) {
  prefix_ = std::clamp<int64_t>(prefix, kRows, vocabulary_);
  std::fill_n(selected_.begin(), (prefix_ + kRows - 1) / kRows, true);
  tiles_.clear();
  for (size_t tile = 0; tile < selected_.size(); ++tile)
    if (selected_[tile]) tiles_.push_back(int32_t(tile));
}

}  // namespace outrider
