#pragma once
// All sources and the drafting model together: one tree a round, from everybody's guesses, each worth what such guesses were worth
// before (survival.h), shaped by what rows cost (grow.h). The model is asked place by place, as long as the next answer is expected to
// bring more than it costs; a model that cannot pay is not run, and does not even read the prompt.
#include <memory>
#include <unordered_map>
#include <vector>

#include "draft/grow.h"
#include "draft/manner.h"
#include "draft/model_writer.h"
#include "draft/source.h"

namespace outrider {

class Blend final : public Drafter {
 public:
  struct Options {
    DraftLimits limits;
    std::array<KindLimits, kMostSources> each{};  // in the order of sources()
    bool automatic = true;   // weigh what drafts cost; else everything that the limits allow is drafted
    int width = 4;           // guesses of all that may share a parent; 1 = chains
    int64_t context = 4096;  // tokens of one request
    int requests = 1;        // at once
  };
  // At most kMostSources, the model included; it may be null.
  Blend(std::vector<std::unique_ptr<Source>> sources, std::unique_ptr<ModelWriter> model, const Clock& clock, Options options);

  std::string_view kind() const override { return kind_; }
  std::vector<std::string> sources() const override;
  bool weighs_costs() const override { return options_.automatic; }
  bool wants_top() const override { return learns_; }
  Result<void> begin(int64_t request, const DraftRequest& about) override;
  void end(int64_t request) override;
  DraftEffort propose(std::span<DraftJob> jobs, const DraftBudget& budget) override;
  void observe(std::span<const DraftOutcome> outcomes) override;
  void archive(Archive& archive) override;

 private:
  // What the model was asked in this round: guesses[i] follow drafted[0 … i).
  struct Asked {
    int count = 0;
    std::array<int32_t, kMaxDraftRows> drafted;
    std::array<Guesses, kMaxDraftRows> guesses;
    std::span<const int32_t> path(int length) const { return {drafted.data(), size_t(length)}; }
    const Guesses* at(std::span<const int32_t> place) const;
  };
  // What the model's reading of a text would bring, as the rounds before it told.
  struct Prelude {
    bool over = false;    // the model has read the text, or its part of it
    int rounds = 0;       // that told,
    float added = 0;      // tokens that its answers would have added in them,
    float emitted = 0;    // among so many then
    double hope = -1;     // what they would add in this round; −1: not weighed
  };
  struct Line {
    std::vector<std::unique_ptr<Reader>> readers;  // null where a source has nothing for this request
    int64_t known = 0;         // tokens the readers have
    bool with_model = false;
    bool chain = false;        // accepted by rejection: blend_chain.cpp
    Asked asked;
    bool sampled = false;
    Manner manner;
    int64_t emitted = 0;       // tokens that the manner was learned from
    bool asked_ever = false;   // the model was
    Prelude prelude;
    bool asking = false;       // the model writes on in this round
    double reach = 1;          // of the place it stands at,
    double unasked_reach = 1;  // and what that would be without its answers
    double unasked = 0;        // survival of the best guess there, before it is asked
    double gain = 0;           // tokens expected from its answers in this round, less what they cost
    double asked_ms = 0;       // that its answers were expected to take in this round
  };

  // blend.cpp
  void follow(Line& line, std::span<const int32_t> committed, int32_t pending) const;
  void limit(std::span<DraftJob> jobs, const DraftBudget& budget) const;
  void drop_short(Draft& draft) const;
  void learn(Line& line, const DraftOutcome& outcome);
  void learn_gain(Line& line, float count) const;
  void score(Line& line, std::span<const int32_t> place, int32_t truth);

  // blend_judge.cpp: many guesses at one place → one list of choices
  template <class Each>
  void each_guess(const Line& line, std::span<const int32_t> place, const Guesses* by_model, Each&& each) const;
  int mood_of(const Choice& c) const;
  Choices judge(const Line& line, std::span<const int32_t> place, const Guesses* by_model) const;
  float prior_of(const Choice& c) const;
  void suit(const Line& line, Choices& judged) const;
  SourceSet model_bit() const { return SourceSet(1u << sources_.size()); }
  const Manner& usual_of(const Line& line) const { return usual_[size_t(line.sampled)].get(); }
  const KindLimits& model_limits() const { return options_.each[sources_.size()]; }

  // blend_chain.cpp: drafts for acceptance by rejection
  void grow_chain(DraftJob& job, const DraftBudget& budget, double promise) const;

  // blend_ask.cpp: when the model is worth its passes
  DraftEffort write(std::span<DraftJob> jobs, const DraftBudget& budget);
  int64_t worth_reading(const Line& line, const DraftJob& job, const DraftBudget& budget) const;
  double ask_ms(const DraftJob& job, int place, const DraftBudget& budget) const;
  double opens_up(const Line& line, double place_cost) const;
  // Tokens that the model's next answer is expected to bring, and what its pass would have brought otherwise.
  struct Prospect {
    double brings, costs;
  };
  Prospect prospect(const Line& line, const DraftJob& job, const DraftBudget& budget) const;
  bool worth_asking(const Line& line, const DraftJob& job, const DraftBudget& budget) const;
  void take_answer(Line& line, const DraftJob& job, const DraftBudget& budget);

  const Clock& clock_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::unique_ptr<ModelWriter> model_;
  Options options_;
  std::string kind_;
  bool learns_ = false;
  Shares shares_;
  Survival survival_;
  std::array<UsualManner, 2> usual_;  // of greedy texts, of sampled ones
  TreeGrower grower_;
  std::unordered_map<int64_t, Line> lines_;
  std::vector<ModelWriter::Ask> asks_;
  std::vector<size_t> asking_;  // jobs of the asks

  // How likely the best guess is once the model was asked, by how likely it was before: what an answer is expected to bring.
  static constexpr double kAnsweredFade = 0.98;
  struct Answered {
    double sum = 0, seen = 0;
  };
  static constexpr int kBefore = 10;
  std::array<Answered, kBefore> answered_{};
};

}  // namespace outrider
