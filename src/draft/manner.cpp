#include "draft/manner.h"

#include <algorithm>
#include <cmath>

namespace outrider {

namespace {
constexpr float kMostShare = 0.25f, kTokens = 400;  // a text of 100 tokens or more counts for a quarter
constexpr float kSecondChance = 0.02f;
}

void UsualManner::learn(const Manner& manner, int64_t tokens, bool model_asked) {
  const float share = std::min(kMostShare, float(tokens) / kTokens);
  for (size_t i = 0; i < usual_.mood.size(); ++i) usual_.mood[i].near(manner.mood[i], share);
  usual_.trust += share * (manner.trust - usual_.trust);
  // A text that does not suit the model costs little, since it is soon left alone; so the usual gain is that of those that do.
  if (!model_asked) {
    usual_.gain += kSecondChance * (Manner::kGain - usual_.gain);
    return;
  }
  usual_.after += share * (manner.after - usual_.after);
  usual_.gain += share * (std::max(0.0f, manner.gain) - usual_.gain);
}

void Manner::archive(Archive& archive) {
  Manner read = *this;
  for (Mood& m : read.mood) m.archive(archive);
  archive.value(read.trust), archive.value(read.after), archive.value(read.gain);
  const bool sound = read.trust >= 0.5f && read.trust <= 1.1f && read.after >= 0 && read.after <= 1 && std::abs(read.gain) <= kMostGain;
  *this = sound ? read : Manner();
}

}  // namespace outrider
