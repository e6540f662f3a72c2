#pragma once
// A smaller model writes ahead (Leviathan et al. 2023, arXiv:2211.17192). It keeps timelines of its own and applies the request's
// whole sampler chain with the same noise at the same positions, so that a model drafting for itself is always right.
//
// Unlike a Source it costs passes, so it is asked place by place, down one path a round, and reads a prompt only when told to.
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "draft/drafter.h"
#include "draft/drawn_rows.h"
#include "draft/likely.h"
#include "draft/source.h"
#include "draft/translator.h"
#include "model/model.h"
#include "model/pass.h"
#include "sample/sampler.h"
#include "state/prefix.h"

namespace outrider {

class ModelWriter {
 public:
  static constexpr int kCatchUpRows = 12;  // committed tokens that ride along with the first pass of a round

  struct Options {
    kernels::KvType k_type = kernels::KvType::f16, v_type = kernels::KvType::f16;
    int64_t context = 4096;  // tokens of one request
    int requests = 1;        // at once
    int kept_prefixes = 1;
    float min_probability = 0;  // where its choice is less certain, it says nothing (softmax at temperature 1)
    double relative_cost = 0.3;        // of a pass, against the target's: believed until one was measured
    bool whole_head = false;           // compute every token's logit, not the likely ones' alone (likely.h)
    std::optional<float> temperature;  // its own, instead of the request's
    std::optional<int32_t> top_k;
  };
  // Bytes that make() and the requests will reserve beside the weights, at most. `row`: length of a row of the target's logits.
  static size_t bytes(const ModelPlan& plan, const Options& options, int64_t row, bool by_rejection);
  // Model, pool, kernels and clock must outlive the writer. `translator` where the target numbers its tokens otherwise: all tokens that
  // are passed here, guesses included, are the target's.
  static Result<std::unique_ptr<ModelWriter>> make(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock, Options options,
                                                   std::shared_ptr<const Translator> translator = nullptr);

  Result<void> begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling, bool by_rejection = false);
  void end(int64_t request);

  // Text that must be read before the next ask: all that is not known yet, or, at the start of a request, less: its first tokens (which
  // every later one attends to) and its end. 0 when the rest rides along with the ask.
  int64_t unread(int64_t request, int64_t committed) const;
  // How much of it `ms` pay for: unread(), or a worthwhile part of it, or 0.
  int64_t affordable(int64_t request, int64_t committed, double ms, const StepCosts* target) const;
  // `target` is the cost of the target's passes, for as long as there is no figure of our own.
  double read_ms(int64_t tokens, int64_t context, const StepCosts* target) const;
  // Of the pass that answers the next ask: the first of a round catches up, later ones compute one row.
  double ask_ms(int64_t request, int64_t committed, int place, const StepCosts* target) const;

  // Opens a round: reads `read` tokens of text and lines up the rest. False when there is no room.
  bool start(int64_t request, std::span<const int32_t> committed, int32_t pending, int64_t read, const StepCosts* target);

  // Whether the place behind `drafted` can be asked for in this round.
  bool room(int64_t request, int32_t drafted) const;

  struct Ask {
    int64_t request;
    std::span<const int32_t> committed;
    int32_t pending;
    std::span<const int32_t> drafted;  // the path so far: one token longer than at the last ask of this round
    Guesses* out;                      // its choice, then the runner-up; evidence classes as in model_evidence()
  };
  // By rejection: what the token at a place of this round was drawn from. Valid until the next start().
  Distribution drawn_from(int64_t request, size_t place) const { return lines_.at(request).drawn->at(place); }

  // One pass for all.
  void ask(std::span<const Ask> asks);

  // The round's outcome: of our rows, those on the accepted path stay.
  void observe(int64_t request, std::span<const int32_t> drafted, const DraftOutcome& outcome);
  void archive(Archive& archive) { costs_.archive(archive); }  // its prices

 private:
  struct Line {
    Timeline timeline;
    Sampler sampler;
    std::vector<int32_t> text{};  // what is committed, in our tokens, where they are not the target's
    std::optional<DrawnRows> drawn{};  // for acceptance by rejection
    int64_t skipped = 0;  // tokens after the first few that were never read: ours stand so much nearer to the start
    int known = 0;        // leading window rows: the target's text, the pending token included
    bool started = false; // in this round
  };
  ModelWriter(const Model& model, const kernels::Kernels& kernels, const Clock& clock, Options options, std::shared_ptr<const Translator> translator);
  void answer(const Ask& ask, Line& line, std::span<float> logits);
  void answer_drawn(const Ask& ask, Line& line, std::span<const float> logits, std::span<const int32_t> path);
  // In our tokens.
  std::span<const int32_t> own(const Line& line, std::span<const int32_t> committed) const { return translator_ ? line.text : committed; }
  std::span<const int32_t> own(const int32_t& token) const { return translator_ ? translator_->read(token) : std::span(&token, 1); }
  int64_t behind(const Line& line, int64_t committed) const {
    return (translator_ ? int64_t(line.text.size()) : committed) - line.timeline.length() - line.skipped;
  }
  bool read(Timeline& timeline, std::span<const int32_t> text);
  bool read_late(Line& line, std::span<const int32_t> text, int64_t late, int64_t tokens);
  void expect(std::span<const int32_t> tokens);
  double predict_ms(int rows, int64_t context, const StepCosts* target) const;

  const Model& model_;
  const kernels::Kernels& kernels_;
  const Clock& clock_;
  Options options_;
  std::shared_ptr<const Translator> translator_;
  std::vector<float> target_row_;  // logits by the target's ids
  std::optional<PagePool> pages_;
  std::optional<Pass> pass_;
  std::optional<PrefixCache> kept_;
  std::vector<int32_t> padding_;  // ids that no text uses
  std::unordered_map<int64_t, Line> lines_;
  std::optional<LikelyTokens> likely_;  // of all requests together
  size_t likely_tiles_ = 0;             // when the pass was told last
  StepCosts costs_;
};

}  // namespace outrider
