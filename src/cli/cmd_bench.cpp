// outrider bench, bench-passes: how long passes take, alone and beside what the machine could do.
#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/stats.h"
#include "cli/commands.h"
#include "cli/machine.h"
#include "cli/terminal.h"
#include "measure/roofline.h"

namespace outrider::cli {

namespace {

using nlohmann::ordered_json;

Result<std::vector<int>> sizes_of(const std::string& text, const char* option) {
  const auto numbers = parse_numbers(text, option);
  if (!numbers) return numbers.error();
  std::vector<int> sizes;
  for (const int64_t n : *numbers) sizes.push_back(int(std::clamp<int64_t>(n, -1, 1 << 20)));
  if (auto right = check_sizes(sizes); !right) return right.error();
  return sizes;
}

double rate(double work, double ms) { return work / (ms * 1e6); }  // in 1e9 a second

// Median and quartiles of one rate over all probes.
struct Spread {
  double q1, median, q3;
  Spread(const Roofline& r, double ProbeRates::*what) {
    std::vector<double> values;
    for (const ProbeRates& p : r.probes) values.push_back(p.*what);
    q1 = quantile(values, 0.25), median = quantile(values, 0.5), q3 = quantile(values, 0.75);
  }
};

ordered_json json_of(const RooflineRow& row) {
  auto samples = ordered_json::array();
  for (const RooflineSample& s : row.samples)
    samples.push_back({{"ms", s.ms},
                       {"ideal_ms", row.ideal_ms(s)},
                       {"read_gb_per_s", {s.before.read_gb_per_s, s.after.read_gb_per_s}},
                       {"int8_gmac_per_s", {s.before.int8_gmac_per_s, s.after.int8_gmac_per_s}},
                       {"kept", s.kept()}});
  const double ms = row.ms(0.5);
  return {{"n", row.n}, {"ms", ms}, {"ideal_ms", row.ideal_ms()}, {"ratio", row.ratio()}, {"q1_ms", row.ms(0.25)}, {"q3_ms", row.ms(0.75)},
          {"gb_per_s", rate(double(row.bytes), ms)}, {"gmac_per_s", rate(double(row.products), ms)}, {"kept", row.kept()}, {"dropped", int(row.samples.size()) - row.kept()},
          {"bytes", row.bytes}, {"multiply_accumulates", row.products}, {"samples", samples}};
}

ordered_json json_of(const RooflineSplit& split) {
  ordered_json parts, bytes, products;
  for (size_t p = 0; p < kPassParts; ++p) {
    parts[kPassPartNames[p]] = split.parts[p].ms;
    if (split.parts[p].bytes) bytes[kPassPartNames[p]] = split.parts[p].bytes, products[kPassPartNames[p]] = split.parts[p].products;
  }
  return {{"n", split.n}, {"ms", split.whole_ms}, {"parts", parts}, {"bytes", bytes}, {"multiply_accumulates", products}};
}

ordered_json json_of(const Roofline& r, const PassSetup& setup, const Values& values) {
  const Spread read(r, &ProbeRates::read_gb_per_s), dots(r, &ProbeRates::int8_gmac_per_s);
  ordered_json j{{"model", setup.model.path()},
                 {"machine", {{"cpu", cpu_name()}, {"isa", setup.kernels.name}, {"threads", setup.pool.size()}}},
                 {"fetch", {{"far_bytes", setup.model.fetch().far_bytes}, {"near_bytes", setup.model.fetch().near_bytes}}},
                 {"context", setup.depth},
                 {"cache_type_k", values.text("cache-type-k")},
                 {"cache_type_v", values.text("cache-type-v")},
                 {"probe", {{"read_gb_per_s", read.median}, {"read_q1_gb_per_s", read.q1}, {"read_q3_gb_per_s", read.q3},
                            {"int8_gmac_per_s", dots.median}, {"int8_q1_gmac_per_s", dots.q1}, {"int8_q3_gmac_per_s", dots.q3}}}};
  j["rows"] = ordered_json::array(), j["split"] = ordered_json::array();
  for (const RooflineRow& row : r.rows) j["rows"].push_back(json_of(row));
  for (const RooflineSplit& split : r.splits) j["split"].push_back(json_of(split));
  return j;
}

std::string split_table(const RooflineSplit& split) {
  std::string text = fmt::format("\nwhere the {:.2f} ms of n = {} go\n", split.whole_ms, split.n);
  double sum = 0;
  for (size_t p = 0; p < kPassParts; ++p) {
    const PassClock::Part& part = split.parts[p];
    sum += part.ms;
    text += fmt::format("  {:18}{:9.3f} ms {:6.1f} %", kPassPartNames[p], part.ms, 100 * part.ms / split.whole_ms);
    text += part.bytes ? fmt::format("{:9.1f} GB/s{:9.0f} GMAC/s\n", rate(double(part.bytes), part.ms), rate(double(part.products), part.ms)) : "\n";
  }
  return text + fmt::format("  {:18}{:9.3f} ms {:6.1f} %\n", "sum", sum, 100 * sum / split.whole_ms);
}

std::string table_of(const Roofline& r, const PassSetup& setup, const Values& values) {
  const Spread read(r, &ProbeRates::read_gb_per_s), dots(r, &ProbeRates::int8_gmac_per_s);
  std::string text = fmt::format("{}, {}, {} threads, context {}, keys {}, values {}; weights are fetched {} bytes ahead and again {} ahead\n", cpu_name(), setup.kernels.name, setup.pool.size(), setup.depth,
                                 values.text("cache-type-k"), values.text("cache-type-v"), setup.model.fetch().far_bytes, setup.model.fetch().near_bytes);
  text += fmt::format("probes: read {:.1f} GB/s [{:.1f}, {:.1f}], int8 dots {:.0f} GMAC/s [{:.0f}, {:.0f}]\n", read.median, read.q1, read.q3, dots.median, dots.q1, dots.q3);
  text += fmt::format("\n{:>3}{:>10}{:>20}{:>10}{:>8}{:>9}{:>9}{:>7}{:>9}\n", "n", "ms", "quartiles", "ideal ms", "ratio", "GB/s", "GMAC/s", "kept", "dropped");
  for (const RooflineRow& row : r.rows) {
    const double ms = row.ms(0.5);
    text += fmt::format("{:>3}{:>10.2f}{:>20}{:>10.2f}{:>8.2f}{:>9.1f}{:>9.0f}{:>7}{:>9}\n", row.n, ms, fmt::format("[{:.2f}, {:.2f}]", row.ms(0.25), row.ms(0.75)), row.ideal_ms(), row.ratio(),
                        rate(double(row.bytes), ms), rate(double(row.products), ms), row.kept(), row.samples.size() - size_t(row.kept()));
  }
  for (const RooflineSplit& split : r.splits) text += split_table(split);
  return text;
}

}  // namespace

int cmd_bench(Values values) {
  if (values.flag("kernels") == values.flag("sampling"))
    return report({values.flag("kernels") ? "--kernels and --sampling are measured one at a time" : "nothing to measure was named",
                   "give --kernels: passes over n rows beside what memory and arithmetic allow, or --sampling: the choice of a token", ErrorKind::usage});
  if (values.flag("sampling")) return bench_sampling(values);
  const auto sizes = sizes_of(values.given("rows") ? values.text("rows") : "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,24,32", "--rows");
  if (!sizes) return report(sizes.error());
  const auto split_sizes = sizes_of(values.text("split"), "--split");
  if (!split_sizes) return report(split_sizes.error());
  const auto runtime = load_target(values);
  if (!runtime) return report(runtime.error());
  const Runtime& r = **runtime;
  const PassSetup setup{*r.model, *r.kernels, *r.pool, r.clock, values.integer("depth"), kv_type(values.text("cache-type-k")), kv_type(values.text("cache-type-v"))};
  const auto roofline = measure_roofline(setup, {*sizes, *split_sizes, values.given("rounds") ? int(values.integer("rounds")) : 15});
  if (!roofline) return report(roofline.error());
  return print(values.flag("json") ? json_of(*roofline, setup, values).dump() + "\n" : table_of(*roofline, setup, values));
}

int cmd_passes(Values values) {
  const auto sizes = sizes_of(values.given("rows") ? values.text("rows") : "1,2,4,8,16", "-n");
  if (!sizes) return report(sizes.error());
  const auto runtime = load_target(values);
  if (!runtime) return report(runtime.error());
  const Runtime& r = **runtime;
  const PassSetup setup{*r.model, *r.kernels, *r.pool, r.clock, values.integer("depth")};
  const auto times = time_passes(setup, *sizes, values.given("rounds") ? int(values.integer("rounds")) : 9);
  if (!times) return report(times.error());
  ordered_json j;
  for (const PassTimes::Row& row : times->rows) j["rows"].push_back({{"n", row.n}, {"ms", row.ms}, {"q1_ms", row.q1_ms}, {"q3_ms", row.q3_ms}});
  j["depth"] = times->depth, j["prefill512_ms"] = times->prefill512_ms;
  return print(j.dump() + "\n");
}

}  // namespace outrider::cli
