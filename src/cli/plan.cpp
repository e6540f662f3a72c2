#include "cli/plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/terminal.h"

namespace outrider::cli {

namespace {

// Of the model's tokens, that a drafter with another vocabulary must know. The commonest twentieth of Qwen's makes four fifths of a text.
constexpr double kLeastKnown = 0.05;

std::string megabytes(size_t bytes) { return fmt::format("{:.0f} MB", double(bytes) / 1e6); }

size_t needed_bytes(const MemoryPlan& plan) {
  size_t sum = 0;
  for (const MemoryPlan::Row& row : plan.rows) sum += row.bytes;
  return sum;
}

// A draft model must not cost more than it can bring. Ends with spec.model as it will be.
void weigh_draft(RuntimeOptions& o, size_t target_bytes, size_t draft_bytes) {
  if (draft_bytes * 10 <= target_bytes * 9) return;
  const std::string sizes = fmt::format("the draft model ({}) is not smaller than the model ({}): a drafted token costs about {:.2f} target steps", megabytes(draft_bytes),
                                        megabytes(target_bytes), double(draft_bytes) / double(target_bytes));
  if (o.spec.automatic) o.spec.model = false;
  warn(sizes + (o.spec.automatic ? ", so it is not used; --spec model forces it" : ""));
}

// The rows of the draft model, where it will be used. A file that could not be used is an error in any case.
Result<void> plan_draft(RuntimeOptions& o, const ModelPlan& target, MemoryPlan& plan) {
  if (o.draft_path.empty()) return {};
  const auto draft = plan_model(o.draft_path, draft_loading(o.spec));
  if (!draft) return draft.error();
  if (!o.spec.model) {
    warn("the draft model " + o.draft_path + " is not loaded, because --spec or --draft-max leaves it nothing to do");
    return {};
  }
  const bool same = compare_vocabularies(target.vocabulary, draft->vocabulary).compatible;
  const VocabularyMap map = same ? VocabularyMap() : map_vocabularies(target.vocabulary, draft->vocabulary);
  if (!same && double(map.target_known) < kLeastKnown * double(target.vocabulary.real_tokens))
    return Error{"the draft model " + o.draft_path + " knows too few of the model's tokens: " + map.words, "use a draft model of the same family", ErrorKind::usage};
  weigh_draft(o, target.weight_bytes, draft->weight_bytes);
  if (!o.spec.model) return {};
  const int64_t row = same ? draft->config.vocabulary : target.config.vocabulary;
  if (!same) {
    say("outrider: the draft model is translated: " + map.words);
    plan.translator = std::make_shared<const Translator>(map, target.vocabulary, draft->vocabulary, row);
  }
  plan.rows.push_back({"draft model: weights", draft->weight_bytes});
  plan.rows.push_back({"draft model: KV cache and buffers",
                       ModelWriter::bytes(*draft, writer_options(o), row, o.acceptance == AcceptRule::rejection) + (same ? 0 : Translator::bytes(target.vocabulary, draft->vocabulary))});
  return {};
}

// What those who draft without a model keep.
size_t source_bytes(const RuntimeOptions& o) {
  size_t sum = 0;
  for (const std::string_view name : o.spec.sources) sum += find_source(name)->bytes(o.context, o.requests);
  return sum;
}

size_t choosing_bytes(const RuntimeOptions& o, const ModelPlan& target) {
  const bool learns = std::ranges::any_of(o.spec.sources, [](std::string_view name) { return find_source(name)->learns; });
  return Engine::choosing_bytes(target, engine_options(o), o.threads > 0 ? o.threads : usable_cpus(), learns, o.acceptance == AcceptRule::rejection);
}

}  // namespace

Result<MemoryPlan> plan_load(RuntimeOptions& o, bool model_is_there) {
  const auto target = plan_model(o.model_path);
  if (!target) return target.error();
  if (o.context == 0) o.context = std::min<int64_t>(kDefaultContext, target->config.context_length);
  MemoryPlan plan;
  if (!model_is_there) plan.rows.push_back({"weights", target->weight_bytes});
  plan.rows.push_back({"KV cache for " + std::to_string(o.context) + " tokens", Engine::kv_bytes(*target, engine_options(o))});
  plan.rows.push_back({"buffers", Engine::work_bytes(*target, engine_options(o))});
  plan.rows.push_back({"choosing tokens, at most", choosing_bytes(o, *target)});
  if (const size_t bytes = source_bytes(o); bytes > 0) plan.rows.push_back({"drafting without a model", bytes});
  if (auto r = plan_draft(o, *target, plan); !r) return r.error();
  plan.free_bytes = available_memory_bytes();
  return plan;
}

Result<void> check_fits(const MemoryPlan& plan) {
  if (needed_bytes(plan) <= plan.free_bytes) return {};
  std::string parts;
  for (const MemoryPlan::Row& row : plan.rows) parts += (parts.empty() ? "" : ", ") + row.what + " " + megabytes(row.bytes);
  return Error{"this does not fit: " + parts + "; " + megabytes(plan.free_bytes) + " of memory are free", "lower -c, or use --cache-type-k q8_0 --cache-type-v q8_0", ErrorKind::does_not_fit};
}

std::string memory_table(const MemoryPlan& plan) {
  std::string table = "memory that will be reserved\n";
  const auto add = [&](const std::string& what, size_t bytes) { table += fmt::format("  {:34}{:10.1f} MB\n", what, double(bytes) / 1e6); };
  for (const MemoryPlan::Row& row : plan.rows) add(row.what, row.bytes);
  add("in all", needed_bytes(plan));
  add("free now", plan.free_bytes);
  table.pop_back();
  return table;
}

}  // namespace outrider::cli
