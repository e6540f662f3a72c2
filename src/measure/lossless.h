#pragma once
// Does speculation change the text? Every arm (a drafter with settings) must give exactly the tokens of plain decoding with the same
// sampling. Arms are a covering choice (every pair of settings occurs together) or all combinations of drafter, length, threads, KV type,
// sampling and penalties.
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "draft/translator.h"
#include "engine/engine.h"

namespace outrider {

enum class ArmDrafter { lookup, recycle, model, all, automatic, self, fuzz };

struct VerifyArm {
  ArmDrafter drafter = ArmDrafter::lookup;
  int length = 4;            // drafted tokens a round
  bool one_thread = false;   // else all
  bool quantised_kv = false, quantised_draft_kv = false;  // q8_0, else f16
  bool sampled = false;      // temperature 0.8, else greedy
  bool penalties = false;
  bool two_requests = false;
  bool narrow_kernels = false;  // AVX2 where AVX-512 would be used
  uint64_t seed = 1;            // of the fuzz drafter; sampling has one seed, so that arms share their plain answers

  bool by_model() const { return drafter != ArmDrafter::lookup && drafter != ArmDrafter::recycle && drafter != ArmDrafter::fuzz; }
};
std::string arm_text(const VerifyArm& arm);

// `drafters`: those that can be had. At least 24 arms, five for each drafter; drawn with `seed`.
std::vector<VerifyArm> covering_arms(const std::vector<ArmDrafter>& drafters, bool quantised_kv, bool narrow_kernels, uint64_t seed);
std::vector<VerifyArm> all_arms(const std::vector<ArmDrafter>& drafters, bool quantised_kv);

struct Difference {
  size_t prompt = 0, at = 0;  // index of the first token that differs
  std::vector<TokenId> plain, speculated;
};

struct ArmResult {
  int64_t answers = 0, tokens = 0, drafted = 0, accepted = 0, rejected = 0;
  std::optional<Difference> difference;
};

class LosslessCheck {
 public:
  struct Setup {
    const Model* model;
    const Model* draft;  // or null
    std::shared_ptr<const Translator> translator;  // null where those two number their tokens alike
    ThreadPool* one_thread;
    ThreadPool* all_threads;
    const kernels::Kernels* kernels;
    const kernels::Kernels* narrow;  // or null
    const Clock* clock;
    std::vector<std::vector<TokenId>> prompts;
    int64_t tokens = 48;
    int64_t context = 4096;
    const std::atomic<bool>* stop = nullptr;  // set from outside to end a run with an error
  };
  explicit LosslessCheck(Setup setup) : setup_(std::move(setup)) {}

  // Runs every prompt under the arm and compares with plain decoding (which is computed once per sampling setting and prompt).
  Result<ArmResult> run(const VerifyArm& arm);

 private:
  using PlainKey = std::tuple<bool, bool, bool, size_t>;  // quantised_kv, sampled, penalties, prompt
  Result<const std::vector<TokenId>*> plain(const VerifyArm& arm, size_t prompt);
  Result<std::unique_ptr<Drafter>> drafter(const VerifyArm& arm, const std::vector<TokenId>& truth);
  Request request(const VerifyArm& arm, size_t prompt) const;
  Result<void> compare(const VerifyArm& arm, std::span<const size_t> prompts, ArmResult& result);

  Setup setup_;
  std::map<PlainKey, std::vector<TokenId>> plain_;
};

}  // namespace outrider
