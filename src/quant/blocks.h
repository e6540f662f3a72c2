#pragma once
// The bytes of one block of each format, little-endian, in the order of the file. d is the scale (IEEE half bits), m or dmin the scale of the
// minima. Blocks in a file have no alignment: load them with load_block, never through a cast.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace outrider {

struct BlockQ4_0 { uint16_t d; uint8_t qs[16]; };                 // low nibbles are elements 0..15, high nibbles 16..31
struct BlockQ4_1 { uint16_t d, m; uint8_t qs[16]; };
struct BlockQ5_0 { uint16_t d; uint8_t qh[4]; uint8_t qs[16]; };  // qh: bit i is the fifth bit of element i
struct BlockQ5_1 { uint16_t d, m; uint8_t qh[4]; uint8_t qs[16]; };
struct BlockQ8_0 { uint16_t d; int8_t qs[32]; };
struct BlockIq4Nl { uint16_t d; uint8_t qs[16]; };
struct BlockMxfp4 { uint8_t e; uint8_t qs[16]; };                 // e: power of two, biased by 127
struct BlockQ2K { uint8_t scales[16]; uint8_t qs[64]; uint16_t d, dmin; };
struct BlockQ3K { uint8_t hmask[32]; uint8_t qs[64]; uint8_t scales[12]; uint16_t d; };
struct BlockQ4K { uint16_t d, dmin; uint8_t scales[12]; uint8_t qs[128]; };
struct BlockQ5K { uint16_t d, dmin; uint8_t scales[12]; uint8_t qh[32]; uint8_t qs[128]; };
struct BlockQ6K { uint8_t ql[128]; uint8_t qh[64]; int8_t scales[16]; uint16_t d; };
struct BlockIq4Xs { uint16_t d, scales_h; uint8_t scales_l[4]; uint8_t qs[128]; };

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockIq4Nl) == 18 && sizeof(BlockMxfp4) == 17 && sizeof(BlockQ2K) == 84);
static_assert(sizeof(BlockQ3K) == 110 && sizeof(BlockQ4K) == 144 && sizeof(BlockQ5K) == 176 && sizeof(BlockQ6K) == 210);
static_assert(sizeof(BlockIq4Xs) == 136);

// The sixteen levels of IQ4_NL and IQ4_XS.
inline constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// The sixteen levels of MXFP4, doubled so that they are whole; its scale is halved to match.
inline constexpr int8_t kMxfp4DoubledLevels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

template <class Block>
Block load_block(const std::byte* bytes) {
  Block block;
  std::memcpy(&block, bytes, sizeof block);
  return block;
}

struct ScaleMin { int scale, min; };  // both 0..63

// Scale and minimum of sub-block s (0..7, 32 elements each) of Q4_K and Q5_K: 6 bits each, packed in 12 bytes.
inline ScaleMin scale_min_of(const uint8_t scales[12], int s) {
  if (s < 4) return {scales[s] & 63, scales[s + 4] & 63};
  return {(scales[s + 4] & 15) | ((scales[s - 4] >> 6) << 4), (scales[s + 4] >> 4) | ((scales[s] >> 6) << 4)};
}

// Scale of sub-block s (0..15, 16 elements each) of Q3_K, −32..31.
inline int q3k_scale_of(const uint8_t scales[12], int s) {
  const int low = s < 8 ? scales[s] & 15 : scales[s - 8] >> 4, high = (scales[8 + s % 4] >> (2 * (s / 4))) & 3;
  return (low | (high << 4)) - 32;
}

// Scale of sub-block b (0..7, 32 elements each) of IQ4_XS, −32..31.
inline int iq4xs_scale_of(const BlockIq4Xs& block, int b) {
  const int low = (block.scales_l[b / 2] >> (4 * (b % 2))) & 15, high = (block.scales_h >> (2 * b)) & 3;
  return (low | (high << 4)) - 32;
}

}  // namespace outrider
