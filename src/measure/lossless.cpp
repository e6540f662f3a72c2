#include "measure/lossless.h"

#include <algorithm>

#include "draft/cascade.h"
#include "draft/fuzz.h"

namespace outrider {

namespace {

constexpr uint64_t kSamplingSeed = 1;

kernels::KvType kv(bool quantised) { return quantised ? kernels::KvType::q8_0 : kernels::KvType::f16; }

}  // namespace

Request LosslessCheck::request(const VerifyArm& arm, size_t prompt) const {
  Request r;
  r.prompt = setup_.prompts[prompt];
  r.max_tokens = setup_.tokens;
  r.sampling.temperature = arm.sampled ? 0.8f : 0.0f;
  r.sampling.seed = kSamplingSeed;
  if (arm.penalties) r.sampling.repeat_penalty = 1.1f, r.sampling.frequency_penalty = 0.2f, r.sampling.presence_penalty = 0.1f;
  return r;
}

Result<const std::vector<TokenId>*> LosslessCheck::plain(const VerifyArm& arm, size_t prompt) {
  const PlainKey key{arm.quantised_kv, arm.sampled, arm.penalties, prompt};
  const auto found = plain_.find(key);
  if (found != plain_.end()) return &found->second;
  auto engine = Engine::make(*setup_.model, *setup_.kernels, *setup_.all_threads, *setup_.clock, nullptr,
                             {.context = setup_.context, .kept_prefixes = 0, .k_type = kv(arm.quantised_kv), .v_type = kv(arm.quantised_kv)});
  if (!engine) return engine.error();
  const auto id = (*engine)->submit(request(arm, prompt));
  if (!id) return id.error();
  while (!(*engine)->idle()) (*engine)->step();
  return &(plain_[key] = (*engine)->answer(*id).tokens);
}

Result<std::unique_ptr<Drafter>> LosslessCheck::drafter(const VerifyArm& arm, const std::vector<TokenId>& truth) {
  if (arm.drafter == ArmDrafter::fuzz) return std::unique_ptr<Drafter>(std::make_unique<FuzzDrafter>(arm.seed * 97 + uint64_t(arm.length), int32_t(setup_.model->config().vocabulary), truth));
  NgramDrafter::Options ngram{.limits = {.max = arm.length, .min = 0, .min_probability = 0, .paced = false}, .shortest_match = 2, .context = setup_.context};
  if (arm.drafter == ArmDrafter::ngram) return std::unique_ptr<Drafter>(std::make_unique<NgramDrafter>(ngram));
  const Model& small = arm.drafter == ArmDrafter::self ? *setup_.model : *setup_.draft;
  auto& pool = arm.one_thread ? *setup_.one_thread : *setup_.all_threads;
  auto model = ModelDrafter::make(small, arm.narrow_kernels ? *setup_.narrow : *setup_.kernels, pool,
                                  {.limits = {.max = arm.length, .min = 0, .min_probability = arm.drafter == ArmDrafter::self ? 0.0f : 0.3f, .paced = false}, .k_type = kv(arm.quantised_draft_kv), .v_type = kv(arm.quantised_draft_kv),
                                   .context = setup_.context, .requests = 2, .kept_prefixes = 0});
  if (!model) return model.error();
  if (arm.drafter != ArmDrafter::both) return std::unique_ptr<Drafter>(std::move(*model));
  return std::unique_ptr<Drafter>(std::make_unique<Cascade>(std::make_unique<NgramDrafter>(ngram), std::move(*model), 4));
}

Result<void> LosslessCheck::compare(const VerifyArm& arm, std::span<const size_t> prompts, ArmResult& result) {
  std::vector<const std::vector<TokenId>*> expected;
  for (const size_t p : prompts) {
    const auto tokens = plain(arm, p);
    if (!tokens) return tokens.error();
    expected.push_back(*tokens);
  }
  auto by = drafter(arm, *expected[0]);
  if (!by) return by.error();
  auto engine = Engine::make(*setup_.model, arm.narrow_kernels ? *setup_.narrow : *setup_.kernels, arm.one_thread ? *setup_.one_thread : *setup_.all_threads, *setup_.clock, std::move(*by),
                             {.context = setup_.context, .requests = int(prompts.size()), .kept_prefixes = 0, .k_type = kv(arm.quantised_kv), .v_type = kv(arm.quantised_kv)});
  if (!engine) return engine.error();
  std::vector<int64_t> ids;
  for (const size_t p : prompts) {
    Request r = request(arm, p);
    r.max_draft = arm.length;
    const auto id = (*engine)->submit(std::move(r));
    if (!id) return id.error();
    ids.push_back(*id);
  }
  while (!(*engine)->idle()) {
    if (setup_.stop && setup_.stop->load()) return Error{"interrupted", ""};
    (*engine)->step();
  }
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Engine::Answer& answer = (*engine)->answer(ids[i]);
    result.answers += 1, result.tokens += answer.account.emitted;
    result.drafted += answer.account.drafted, result.accepted += answer.account.accepted, result.rejected += answer.account.rejected;
    if (answer.tokens == *expected[i] || result.difference) continue;
    const auto [a, b] = std::mismatch(answer.tokens.begin(), answer.tokens.end(), expected[i]->begin(), expected[i]->end());
    result.difference = Difference{prompts[i], size_t(a - answer.tokens.begin()), *expected[i], answer.tokens};
  }
  return {};
}

Result<ArmResult> LosslessCheck::run(const VerifyArm& arm) {
  ArmResult result;
  const size_t step = arm.two_requests ? 2 : 1;
  for (size_t p = 0; p < setup_.prompts.size(); p += step) {
    const size_t both[2] = {p, (p + 1) % setup_.prompts.size()};
    if (auto r = compare(arm, {both, step}, result); !r) return r.error();
  }
  return result;
}

}  // namespace outrider
