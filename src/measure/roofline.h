#pragma once
// Passes over n rows beside the time they would take if nothing but memory and the dot products counted, and where their time goes.
//
//   ideal(n) = max(bytes / read rate, products / dot rate), both rates probed right before and right after the pass (their mean)
//   bytes    = every matrix once, in the compute layout (of the embedding only when it is also the head) + keys and values of the depth once
//   products = Σ over matrices rows · columns · n
//            + layers · heads · head_dim · 2 · Σ over the rows of the positions they see (depth + 1 … depth + n): q·K and w·V
// The ideal knows no activations, logits or floats: attention and float matrices are held against the int8 dots as well. Nothing reaches it.
#include <array>
#include <span>
#include <vector>

#include "measure/passes.h"
#include "measure/probes.h"

namespace outrider {

struct RooflineSample {
  double ms = 0;
  ProbeRates before, after;
  bool kept() const { return !unsteady(before, after); }
};

struct RooflineRow {
  int n = 0;
  int64_t bytes = 0, products = 0;
  std::vector<RooflineSample> samples;

  double ideal_ms(const RooflineSample& sample) const;
  // Figures of the samples that were kept; NaN when none was.
  double ms(double quantile) const;
  double ideal_ms() const;  // median
  double ratio() const;     // median of each sample's ms over its own ideal: a machine that changed between samples does not bend it
  int kept() const;
};

// Where the time of a pass over n rows went: the mean of the middle half of the rounds by duration, so that the parts still add up.
struct RooflineSplit {
  int n = 0;
  double whole_ms = 0;  // timed from outside
  std::array<PassClock::Part, kPassParts> parts;
};

struct Roofline {
  std::vector<RooflineRow> rows;
  std::vector<RooflineSplit> splits;
  std::vector<ProbeRates> probes;  // all of them, in order
};

struct RooflinePlan {
  std::span<const int> sizes, split_sizes;
  int rounds = 15;
};

// Every round visits all sizes: probe, pass, probe, pass, … probe, then the passes whose parts are noted.
Result<Roofline> measure_roofline(const PassSetup& setup, const RooflinePlan& plan);

}  // namespace outrider
