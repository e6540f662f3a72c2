#include "measure/lossless.h"

#include <algorithm>

#include "draft/blend.h"
#include "draft/fuzz.h"
#include "draft/kinds.h"

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
  std::vector<std::unique_ptr<Source>> sources;
  const bool everybody = arm.drafter == ArmDrafter::all || arm.drafter == ArmDrafter::automatic;
  if (everybody || arm.drafter == ArmDrafter::lookup || arm.drafter == ArmDrafter::recycle)
    sources = everybody ? make_all_sources() : make_sources(std::array<std::string_view, 1>{arm.drafter == ArmDrafter::lookup ? "lookup" : "recycle"});
  std::unique_ptr<ModelWriter> writer;
  const bool self = arm.drafter == ArmDrafter::self;
  if (arm.by_model() && (self || setup_.draft)) {
    auto& pool = arm.one_thread ? *setup_.one_thread : *setup_.all_threads;
    const Model& model = self ? *setup_.model : *setup_.draft;
    auto made = ModelWriter::make(model, arm.narrow_kernels ? *setup_.narrow : *setup_.kernels, pool, *setup_.clock,
                                  {.k_type = kv(arm.quantised_draft_kv), .v_type = kv(arm.quantised_draft_kv), .context = setup_.context, .requests = 2, .kept_prefixes = 0, .whole_head = self},
                                  self ? nullptr : setup_.translator);
    if (!made) return made.error();
    writer = std::move(*made);
  }
  // Self drafts in chains, so that a rejected token would show; the others in trees.
  const Blend::Options how{.limits = {.max = arm.length}, .automatic = arm.drafter == ArmDrafter::automatic, .width = self ? 1 : 3, .context = setup_.context, .requests = 2};
  return std::unique_ptr<Drafter>(std::make_unique<Blend>(std::move(sources), std::move(writer), *setup_.clock, how));
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
