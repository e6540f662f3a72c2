#include "measure/roofline.h"

#include <algorithm>

#include "base/stats.h"

namespace outrider {

namespace {

struct Timed {
  double whole_ms;
  std::array<PassClock::Part, kPassParts> parts;
};

// bytes and products of a pass whose parts were noted, see roofline.h.
void count_work(const PassSetup& s, const PassClock& parts, RooflineRow& row) {
  const Config& c = s.model.config();
  const KvGeometry kv = s.model.kv_geometry(s.k_type, s.v_type);
  row.bytes = int64_t(kv.page_bytes()) / kernels::kKvBlock * s.depth;
  row.products = int64_t(c.layers) * c.query_width() * 2 * (s.depth * row.n + int64_t(row.n) * (row.n + 1) / 2);
  for (const PassClock::Part& part : parts.parts()) row.bytes += part.bytes, row.products += part.products;
}

RooflineSplit middle_half(int n, std::vector<Timed> rounds) {
  std::sort(rounds.begin(), rounds.end(), [](const Timed& a, const Timed& b) { return a.whole_ms < b.whole_ms; });
  const size_t cut = rounds.size() / 4;
  const double weight = 1 / double(rounds.size() - 2 * cut);
  RooflineSplit split{.n = n, .parts = rounds[0].parts};
  for (PassClock::Part& part : split.parts) part.ms = 0;
  for (size_t i = cut; i < rounds.size() - cut; ++i) {
    split.whole_ms += rounds[i].whole_ms * weight;
    for (size_t p = 0; p < kPassParts; ++p) split.parts[p].ms += rounds[i].parts[p].ms * weight;
  }
  return split;
}

template <class Fn>
double quantile_of_kept(const std::vector<RooflineSample>& samples, double q, Fn&& value) {
  std::vector<double> values;
  for (const RooflineSample& s : samples)
    if (s.kept()) values.push_back(value(s));
  return quantile(values, q);
}

}  // namespace

double RooflineRow::ideal_ms(const RooflineSample& s) const {
  const double read = (s.before.read_gb_per_s + s.after.read_gb_per_s) / 2, dots = (s.before.int8_gmac_per_s + s.after.int8_gmac_per_s) / 2;
  return std::max(double(bytes) / (read * 1e6), double(products) / (dots * 1e6));
}

double RooflineRow::ms(double q) const {
  return quantile_of_kept(samples, q, [](const RooflineSample& s) { return s.ms; });
}
double RooflineRow::ideal_ms() const {
  return quantile_of_kept(samples, 0.5, [&](const RooflineSample& s) { return ideal_ms(s); });
}
double RooflineRow::ratio() const {
  return quantile_of_kept(samples, 0.5, [&](const RooflineSample& s) { return s.ms / ideal_ms(s); });
}
int RooflineRow::kept() const {
  return int(std::count_if(samples.begin(), samples.end(), [](const RooflineSample& s) { return s.kept(); }));
}

Result<Roofline> measure_roofline(const PassSetup& setup, const RooflinePlan& plan) {
  for (const auto sizes : {plan.sizes, plan.split_sizes})
    if (auto right = check_sizes(sizes); !right) return right.error();
  auto bench = PassBench::make(setup);
  if (!bench) return bench.error();
  auto probe = MachineProbe::make(setup.kernels, setup.pool, setup.clock);
  if (!probe) return probe.error();

  Roofline roofline;
  for (const int n : plan.sizes) {  // this also warms up
    PassClock parts(setup.clock, setup.pool);
    (*bench)->run_ms(n, &parts);
    count_work(setup, parts, roofline.rows.emplace_back(RooflineRow{.n = n}));
  }
  std::vector<std::vector<Timed>> timed(plan.split_sizes.size());
  for (int round = 0; round < plan.rounds; ++round) {
    roofline.probes.push_back(probe->run());
    for (RooflineRow& row : roofline.rows) {
      const ProbeRates before = roofline.probes.back();
      const double ms = (*bench)->run_ms(row.n);
      roofline.probes.push_back(probe->run());
      row.samples.push_back({ms, before, roofline.probes.back()});
    }
    for (size_t i = 0; i < timed.size(); ++i) {
      PassClock parts(setup.clock, setup.pool);
      const double whole_ms = (*bench)->run_ms(plan.split_sizes[i], &parts);
      timed[i].push_back({whole_ms, parts.parts()});
    }
  }
  for (size_t i = 0; i < timed.size(); ++i) roofline.splits.push_back(middle_half(plan.split_sizes[i], std::move(timed[i])));
  return roofline;
}

}  // namespace outrider
