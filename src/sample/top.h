#pragma once
// The few most probable tokens of a row of logits, for those who learn from what the target thinks.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"

namespace outrider {

struct TopTokens {
  static constexpr int kCount = 8;
  std::array<int32_t, kCount> token{};
  std::array<float, kCount> probability{};  // softmax at temperature 1, descending; token[i] counts where probability[i] > 0
};

// Scratch for rows of one length; one thread at a time.
class TopFinder {
 public:
  explicit TopFinder(int64_t row_size);
  static size_t bytes(int64_t row_size);
  // Allocates nothing. NaN and −infinity never count; equal logits in order of ids.
  void find(const kernels::Kernels& kernels, std::span<const float> logits, TopTokens& out);

 private:
  std::vector<float> maxima_, ordered_;
  std::vector<int32_t> found_;
};

}  // namespace outrider
