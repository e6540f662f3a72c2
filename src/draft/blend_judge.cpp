// Many guesses at one place become one list of choices.
#include <algorithm>

#include "draft/blend.h"

namespace outrider {

const Guesses* Blend::Asked::at(std::span<const int32_t> place) const {
  const bool here = int(place.size()) < count && std::ranges::equal(place, path(int(place.size())));
  return here ? &guesses[place.size()] : nullptr;
}

// each(source, guess) for everybody's guesses at a place.
template <class Each>
void Blend::each_guess(const Line& line, std::span<const int32_t> place, const Guesses* by_model, Each&& each) const {
  for (size_t k = 0; k < line.readers.size(); ++k) {
    if (!line.readers[k]) continue;
    Guesses guesses;
    line.readers[k]->guess(place, guesses);
    for (const Guess& g : guesses.all()) each(int(k), g);
  }
  if (by_model)
    for (const Guess& g : by_model->all()) each(int(sources_.size()), g);
}

// A model and the text before, which know different things, make each other surer; two readings of the same text do not.
float Blend::agreed(SourceSet set, float confidence) const {
  const bool both = (set & model_bit()) && (set & ~model_bit());
  return both ? 1 - 0.4f * (1 - confidence) : confidence;
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
      choices.list[size_t(choices.count++)] = {g.token, 0, confidence, SourceSet(1u << source), int8_t(source)};
      return;
    }
    same->sources |= SourceSet(1u << source);
    if (confidence > same->confidence) same->confidence = confidence, same->source = int8_t(source);
  });
  float sum = 0;
  const auto all = std::span(choices.list.data(), size_t(choices.count));
  for (Choice& c : all) sum += c.survival = survival_.joint(c.sources, c.confidence, agreed(c.sources, c.confidence));
  if (sum > 0.999f)
    for (Choice& c : all) c.survival *= 0.999f / sum;
  std::ranges::sort(all, [](const Choice& a, const Choice& b) { return a.survival != b.survival ? a.survival > b.survival : a.token < b.token; });
  if (choices.count > 0) suit(line, all);
  return choices;
}

// The mood of the text moves the odds of the best choice against all else; its siblings share what is left as before.
void Blend::suit(const Line& line, std::span<Choice> choices) const {
  Choice& best = choices[0];
  const float shifted = line.mood[size_t(mood_of(best))].shifted(best.survival), rest = (1 - shifted) / std::max(1e-6f, 1 - best.survival);
  best.survival = shifted;
  for (Choice& c : choices.subspan(1)) c.survival = std::min(c.survival * rest, shifted);
}

void Blend::score(Line& line, std::span<const int32_t> place, int32_t truth) {
  const Guesses* by_model = line.asked.at(place);
  const Choices choices = judge(line, place, by_model);
  each_guess(line, place, by_model, [&](int source, const Guess& g) { survival_.count_single(source, g.evidence, g.token == truth); });
  if (choices.count > 0) line.mood[size_t(mood_of(choices.list[0]))].learn(choices.list[0].survival, choices.list[0].token == truth);
  for (const Choice& c : choices.all()) survival_.count_joint(c.sources, c.confidence, c.token == truth);
}

}  // namespace outrider
