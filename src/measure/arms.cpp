// Which arms a check runs.
#include <algorithm>
#include <set>

#include "measure/lossless.h"

namespace outrider {

namespace {

constexpr int kLengths[5][2] = {{1, 1}, {2, 3}, {4, 7}, {8, 15}, {16, 16}};  // bands of draft lengths; a length is drawn within
constexpr size_t kMostArms = 24;  // more only where drafters × bands need more
constexpr int kTwoWay = 7;  // settings that are on or off

struct Dice {
  uint64_t state;
  uint64_t roll(uint64_t below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % below;
  }
};

// An arm as numbers, one a dimension: drafter, length band, then the two-way settings.
using Point = std::array<int, 2 + kTwoWay>;

VerifyArm to_arm(const Point& p, const std::vector<ArmDrafter>& drafters, Dice& dice) {
  const auto& band = kLengths[p[1]];
  return {.drafter = drafters[size_t(p[0])],
          .length = band[0] + int(dice.roll(uint64_t(band[1] - band[0] + 1))),
          .one_thread = p[2] == 1, .quantised_kv = p[3] == 1, .quantised_draft_kv = p[4] == 1, .sampled = p[5] == 1,
          .penalties = p[6] == 1, .two_requests = p[7] == 1, .narrow_kernels = p[8] == 1,
          .seed = 1};
}

using Pair = std::array<int, 4>;  // dimension, value, dimension, value

size_t new_pairs(const Point& p, const std::set<Pair>& covered, std::vector<Pair>* out) {
  size_t count = 0;
  for (int i = 0; i < int(p.size()); ++i)
    for (int j = i + 1; j < int(p.size()); ++j) {
      const Pair pair{i, p[size_t(i)], j, p[size_t(j)]};
      if (covered.count(pair)) continue;
      ++count;
      if (out) out->push_back(pair);
    }
  return count;
}

}  // namespace

std::string arm_text(const VerifyArm& a) {
  static constexpr const char* kNames[] = {"lookup", "recycle", "model", "all together", "automatic", "self", "fuzz"};
  std::string text = std::string(kNames[int(a.drafter)]) + " max " + std::to_string(a.length) + ", " + (a.sampled ? "T 0.8" : "greedy");
  if (a.penalties) text += ", penalties";
  text += a.quantised_kv ? ", kv q8_0" : ", kv f16";
  if (a.by_model()) text += a.quantised_draft_kv ? ", draft kv q8_0" : ", draft kv f16";
  text += a.one_thread ? ", 1 thread" : ", all threads";
  if (a.two_requests) text += ", 2 at once";
  if (a.narrow_kernels) text += ", avx2";
  return text;
}

std::vector<VerifyArm> covering_arms(const std::vector<ArmDrafter>& drafters, bool quantised_kv, bool narrow_kernels, uint64_t seed) {
  Dice dice{seed * 2 + 1};
  std::set<Pair> covered;
  std::vector<VerifyArm> arms;
  // Greedy: of many random arms, the one with most pairs not seen yet.
  const size_t most_arms = std::max(kMostArms, drafters.size() * std::size(kLengths));
  while (arms.size() < most_arms) {
    Point best{};
    size_t most = 0;
    for (int tries = 0; tries < 400; ++tries) {
      Point p;
      p[0] = int(dice.roll(drafters.size())), p[1] = int(dice.roll(5));
      for (size_t i = 2; i < p.size(); ++i) p[i] = int(dice.roll(2));
      if (!quantised_kv) p[3] = p[4] = 0;
      if (!narrow_kernels) p[8] = 0;
      if (const size_t fresh = new_pairs(p, covered, nullptr); fresh > most) most = fresh, best = p;
    }
    if (most == 0) break;
    std::vector<Pair> fresh;
    new_pairs(best, covered, &fresh);
    covered.insert(fresh.begin(), fresh.end());
    arms.push_back(to_arm(best, drafters, dice));
    arms.back().seed = arms.size();
  }
  return arms;
}

std::vector<VerifyArm> all_arms(const std::vector<ArmDrafter>& drafters, bool quantised_kv) {
  std::vector<VerifyArm> arms;
  for (const ArmDrafter drafter : drafters)
    for (int length = 1; length <= 16; ++length)
      for (int bits = 0; bits < 16; ++bits) {
        if ((bits & 2) && !quantised_kv) continue;
        arms.push_back({.drafter = drafter, .length = length, .one_thread = (bits & 1) != 0, .quantised_kv = (bits & 2) != 0,
                        .quantised_draft_kv = (bits & 2) != 0 && length % 2 == 1, .sampled = (bits & 4) != 0, .penalties = (bits & 8) != 0,
                        .two_requests = length % 3 == 0, .narrow_kernels = false, .seed = 1});
      }
  return arms;
}

}  // namespace outrider
