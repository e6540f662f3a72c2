// Many guesses at one place become one list of choices.
#include <algorithm>

#include "draft/blend.h"

namespace outrider {

const Guesses* Blend::Asked::at(std::span<const int32_t> place) const {
  const bool here = int(place.size()) < count && std::ranges::equal(place, path(int(place.size())));
  return here ? &guesses[place.size()] : nullptr;
}

// each(source, guess) for everybody's guesses at a place, of each as many as it may have there.
template <class Each>
void Blend::each_guess(const Line& line, std::span<const int32_t> place, const Guesses* by_model, Each&& each) const {
  for (size_t k = 0; k < line.readers.size(); ++k) {
    if (!line.readers[k]) continue;
    Guesses guesses;
    line.readers[k]->guess(place, guesses);
    for (const Guess& g : guesses.best(options_.each[k].width)) each(int(k), g);
  }
  if (by_model)
    for (const Guess& g : by_model->best(model_limits().width)) each(int(sources_.size()), g);
}

namespace {

constexpr float kSurely = 0.986f;  // what no guess was found to surpass, however sure it looked: texts stop being copied
constexpr float kSurer = 0.5f, kSurest = 0.85f;  // survivals from which guesses have a mood of their own

float odds(float p) { return p / std::max(1e-4f, 1 - p); }

}  // namespace

// What to believe of a choice before such were seen. A model and the text before, which know different things, make each other surer;
// two readings of the same text do not. A rival takes its share: odds against odds.
float Blend::prior_of(const Choice& c) const {
  const bool both = (c.sources & model_bit()) && (c.sources & ~model_bit());
  const float o = odds(both ? 1 - 0.4f * (1 - c.confidence) : c.confidence);
  return o / (1 + o + odds(c.rival));
}

// Guesses at the same token are one choice; siblings are never likelier together than certain.
Choices Blend::judge(const Line& line, std::span<const int32_t> place, const Guesses* by_model) const {
  Choices choices;
  each_guess(line, place, by_model, [&](int source, const Guess& g) {
    const float confidence = survival_.single(source, g);
    const auto all = std::span(choices.list.data(), size_t(choices.count));
    auto same = std::ranges::find(all, g.token, &Choice::token);
    if (same == all.end()) {
      if (choices.count == Choices::kMost) return;
      choices.list[size_t(choices.count++)] = {g.token, 0, confidence, 0, SourceSet(1u << source), int8_t(source)};
      return;
    }
    same->sources |= SourceSet(1u << source);
    if (confidence > same->confidence) same->confidence = confidence, same->source = int8_t(source);
  });
  const auto all = std::span(choices.list.data(), size_t(choices.count));
  for (Choice& c : all) {
    for (const Choice& other : all)
      if (other.token != c.token) c.rival = std::max(c.rival, other.confidence);
    c.survival = survival_.joint(c.sources, c.confidence, c.rival, prior_of(c));
  }
  std::ranges::sort(all, [](const Choice& a, const Choice& b) { return a.survival != b.survival ? a.survival > b.survival : a.token < b.token; });
  if (choices.count > 0) suit(line, choices);
  return choices;
}

int Blend::mood_of(const Choice& c) const {
  return (c.sources & model_bit()) ? 3 : c.survival > kSurest ? 2 : c.survival > kSurer ? 1 : 0;
}

// The mood of the text moves the odds of the best choice against all else; its siblings share what it leaves.
void Blend::suit(const Line& line, Choices& judged) const {
  const auto choices = std::span(judged.list.data(), size_t(judged.count));
  Choice& best = choices[0];
  judged.mood = int8_t(mood_of(best));
  const float shifted = std::min(kSurely, line.manner.mood[size_t(judged.mood)].shifted(best.survival)), left = 1 - shifted;
  float others = 0;
  for (const Choice& c : choices.subspan(1)) others += c.survival;
  const float share = std::min(left / std::max(1e-6f, 1 - best.survival), left / std::max(1e-6f, others));
  for (Choice& c : choices.subspan(1)) c.survival = std::min(c.survival * share, shifted);
  best.survival = shifted;
}

void Blend::score(Line& line, std::span<const int32_t> place, int32_t truth) {
  const Guesses* by_model = line.asked.at(place);
  const Choices choices = judge(line, place, by_model);
  each_guess(line, place, by_model, [&](int source, const Guess& g) { survival_.count_single(source, g.evidence, g.token == truth); });
  if (choices.count > 0) line.manner.mood[size_t(choices.mood)].learn(choices.list[0].survival, choices.list[0].token == truth);
  for (const Choice& c : choices.all()) survival_.count_joint(c.sources, c.confidence, c.rival, c.token == truth);
}

}  // namespace outrider
