#pragma once
// Runs requests on a model: continuous batching, chunked prompts, speculation. One thread calls it; the pool works for it.
//
// Law 1: a request's tokens depend on its own prompt, seed and settings alone: not on the drafter, its neighbours, the number of
// threads, or whether its prompt was cached. A request that asks for acceptance by rejection gives that up.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "draft/drafter.h"
#include "engine/account.h"
#include "engine/controller.h"
#include "engine/request.h"
#include "model/model.h"
#include "model/pass.h"
#include "sample/sampler.h"
#include "state/prefix.h"

namespace outrider {

struct EngineOptions {
  int64_t context = 4096;  // tokens of one request, prompt and answer together
  int requests = 1;        // at once; others wait
  int prompt_rows = 128;   // prompt rows read in one step
  int kept_prefixes = 1;   // finished sequences kept for reuse
  kernels::KvType k_type = kernels::KvType::f16, v_type = kernels::KvType::f16;
};

class Engine {
 public:
  // drafter may be null. Model, pool, kernels and clock must outlive the engine.
  static Result<std::unique_ptr<Engine>> make(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock,
                                              std::unique_ptr<Drafter> drafter, EngineOptions options);
  // Bytes make() will reserve beside the weights: KV pages, working buffers, and, at most, what is needed for choosing tokens (samplers,
  // rows for acceptance by rejection, and the search for what a drafter that wants_top() learns from).
  static size_t kv_bytes(const ModelPlan& plan, const EngineOptions& options);
  static size_t work_bytes(const ModelPlan& plan, const EngineOptions& options);
  static size_t choosing_bytes(const ModelPlan& plan, const EngineOptions& options, int threads, bool wants_top, bool by_rejection);

  // Errors: empty prompt, a token outside the vocabulary, bad settings, a prompt longer than the context.
  Result<int64_t> submit(Request request);
  void cancel(int64_t id);
  bool idle() const { return running_.empty() && waiting_.empty(); }
  // One pass of the target. The record is also kept by records().
  StepRecord step();

  static constexpr int8_t kOwn = -1;  // the target's next choice
  struct Answer {
    std::vector<TokenId> tokens;
    std::vector<int8_t> sources;  // who drafted each token, an index into draft_sources(); kOwn: nobody
    Finish finish = Finish::running;
    RequestAccount account;
  };
  // The answer so far of a request that runs or has finished; release() forgets it.
  const Answer& answer(int64_t id) const;
  void release(int64_t id);

  const std::vector<StepRecord>& records() const { return records_; }
  void clear_records() { records_.clear(); }
  std::string_view drafter_kind() const { return drafter_ ? drafter_->kind() : "off"; }
  std::vector<std::string> draft_sources() const { return drafter_ ? drafter_->sources() : std::vector<std::string>{}; }
  const EngineOptions& options() const { return options_; }

  // What drafting learned here (Drafter::archive, Controller::archive), as bytes for a later run with the same models on the same
  // machine. recall() takes them back before the first request, and believes nothing when they are of another drafter or size.
  std::vector<std::byte> experience();
  bool recall(std::span<const std::byte> bytes);

 private:
  struct Sequence {
    int64_t id;
    Request request;
    Timeline timeline;
    Sampler sampler;
    Answer* answer;
    bool reading = true;    // the prompt
    bool drafting = true;   // the drafter follows this request
    TokenId pending = 0;    // emitted, not yet in the timeline
    int chunk = 0;          // prompt rows in this step
    int first_logits = -1;  // its first row of logits in this step
    Draft draft{};
    Acceptance acceptance{};
    std::vector<TokenProbability> probabilities{};  // of one row, for acceptance by rejection
    Ledger ledger{};
    int emitted = 0;        // in this step
    std::span<const TokenId> unread() const { return std::span(request.prompt).subspan(size_t(timeline.length())); }
  };
  using Running = std::vector<std::unique_ptr<Sequence>>;

  Engine(const Model& model, ThreadPool& pool, const Clock& clock, std::unique_ptr<Drafter> drafter, EngineOptions options);

  // step.cpp
  void draft(StepRecord& record);
  void verify(StepRecord& record);
  void accept(StepRecord& record);
  void commit(StepRecord& record);
  TokenId choose(Sequence& s, int row);

  // rejection.cpp
  Acceptance accept_by_rejection(Sequence& s);

  // drafting.cpp
  void plan_drafts(StepRecord& record);
  double tokens_ahead(const Sequence& s, double at_least) const;
  int64_t longest_context() const;
  void find_top_tokens();
  void tell_drafter();
  void settle(StepRecord& record);
  void archive(Archive& archive);

  // scheduler.cpp
  void admit();
  void plan_prompts(StepRecord& record);
  int64_t tokens_left(const Sequence& s) const;
  void emit(Sequence& s, StepRecord& record);
  void finish(Sequence& s, Finish why);
  void retire();
  void count(Sequence& s, StepRecord& record);

  const Model& model_;
  ThreadPool& pool_;
  const Clock& clock_;
  const kernels::Kernels* kernels_ = nullptr;
  EngineOptions options_;
  std::unique_ptr<Drafter> drafter_;
  std::optional<PagePool> pages_;
  std::optional<Pass> pass_;
  PrefixCache prefixes_;
  std::vector<TokenId> padding_;
  std::deque<std::pair<int64_t, Request>> waiting_;
  Running running_;
  std::map<int64_t, Answer> answers_;
  std::vector<DraftJob> jobs_;
  std::vector<DraftOutcome> outcomes_;
  std::vector<StepRecord> records_;
  int64_t next_id_ = 1;
  Controller controller_;
  std::vector<TopFinder> finders_;   // one a thread
  std::vector<TopTokens> top_;       // of the window rows of this step, when the drafter wants them
  std::vector<int> top_rows_;        // their rows of logits
};

}  // namespace outrider
