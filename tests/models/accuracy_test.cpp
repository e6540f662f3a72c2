// Our logits against a float32 run of the decoded weights (data/README.md): the divergence over the 32 most probable tokens and «another».
#include <cmath>
#include <nlohmann/json.hpp>

#include "measure/scoring.h"
#include "models/runs.h"
#include "sample/sampler.h"

namespace outrider::test {
namespace {

struct Golden {
  const char* name;  // of the golden file
  const char* file;  // of the model
  double mean_kl;  // at most; the first row is judged apart, since one token alone is hardly a text
  double top1;     // at least, of 63 rows
};

class Accuracy : public testing::TestWithParam<Golden> {};

TEST_P(Accuracy, IsCloseToFloat32) {
  const auto j = nlohmann::json::parse(read_file(std::string(OUTRIDER_SOURCE_DIR) + "/tests/models/data/" + GetParam().name + ".json"));
  const auto model = load(model_path(GetParam().file));
  const auto ids = j["ids"].get<std::vector<TokenId>>();
  double total = 0;
  int same = 0;
  const auto result = for_each_logits({*model, best_kernels(), pool()}, ids, [&](int64_t i, std::span<const float> logits) -> Result<void> {
    if (i == 0) return {};
    const auto& row = j["rows"][size_t(i)];
    double kl = 0, listed = 0;
    for (size_t k = 0; k < row["ids"].size(); ++k) {
      const double log_p = row["log_p"][k].get<double>(), log_q = log_probability(best_kernels(), logits, row["ids"][k].get<TokenId>());
      kl += std::exp(log_p) * (log_p - log_q), listed += std::exp(log_q);
    }
    const double log_rest = row["log_rest"].get<double>();
    kl += std::exp(log_rest) * (log_rest - std::log(std::max(1e-12, 1 - listed)));
    total += kl;
    same += best_kernels().argmax(logits.data(), int64_t(logits.size())) == row["ids"][0].get<int64_t>();
    return {};
  });
  ASSERT_TRUE(result.ok());
  RecordProperty("mean_kl", std::to_string(total / 63));
  EXPECT_LT(total / 63, GetParam().mean_kl) << same << " of 63 agree";
  EXPECT_GE(same, GetParam().top1 * 63);
}

INSTANTIATE_TEST_SUITE_P(Models, Accuracy, testing::Values(Golden{"qwen2.5-coder-1.5b", kQwen15, 0.0025, 0.95}, Golden{"qwen2.5-coder-0.5b", kQwen05, 0.0020, 0.95}, Golden{"smollm2-135m", kSmol, 0.0045, 0.93}, Golden{"gemma-3-270m", kGemma, 0.0035, 0.93}));

}  // namespace
}  // namespace outrider::test
