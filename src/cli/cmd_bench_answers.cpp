// outrider bench-answers: plain and drafted answers to a set of prompts, in pairs. A round goes over all prompts, so that rounds can be
// compared with each other; which of a pair comes first alternates.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/memory.h"
#include "base/stats.h"
#include "cli/calibration.h"
#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/prompt_set.h"
#include "cli/prompting.h"
#include "cli/terminal.h"
#include "measure/answers.h"

namespace outrider::cli {

namespace {

using nlohmann::ordered_json;

constexpr int kFewTokens = 16;  // answers with fewer are compared but not timed
constexpr int64_t kRounds = 5;

struct Pair {
  size_t prompt;
  int round;
  double at_ms;  // since the first pair began
  size_t resident_bytes;
  AnswerPair times;
  bool timed() const { return times.tokens >= kFewTokens && times.ratio() > 0; }
};

struct Bench {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Engine> plain, drafted;
  std::vector<Prompt> prompts;
  std::vector<Request> requests;
  int rounds;
  double minutes;
  bool json;
};

Result<std::vector<Request>> make_requests(const Values& values, const Runtime& r, const std::vector<Prompt>& prompts) {
  std::vector<Request> requests;
  const int64_t most = values.integer("predict");
  const auto sampling = sampling_settings(values, *r.model);
  if (!sampling) return sampling.error();
  for (const Prompt& p : prompts) {
    auto ids = encode_messages(r.model->vocabulary(), *r.tokenizer, p.messages);
    if (!ids) return ids.error();
    Request request;
    request.prompt = std::move(*ids), request.sampling = *sampling, request.max_tokens = most < 0 ? p.max_tokens : std::min(most, p.max_tokens);
    request.ignore_end = values.flag("ignore-eos");
    requests.push_back(std::move(request));
  }
  return requests;
}

// A new drafter, that knows nothing of any text.
Result<void> make_drafted(Bench& b) {
  auto drafter = b.runtime->make_drafter();
  if (!drafter) return drafter.error();
  if (!*drafter) return Error{"nothing drafts: plain decoding beside itself would be measured", "leave out --spec off", ErrorKind::usage};
  auto engine = b.runtime->make_engine(std::move(*drafter));
  if (!engine) return engine.error();
  b.drafted = std::move(*engine);
  return {};
}

// What drafting learned of odds and prices goes on, what it learned of words does not: prompts come again, and it would know the answers.
Result<void> forget_texts(Bench& b) {
  const std::vector<std::byte> experience = b.drafted->experience();
  b.drafted.reset();
  if (auto made = make_drafted(b); !made) return made;
  b.drafted->recall(experience);
  return {};
}

// Neither engine keeps prompts, so that each answer reads its own; what drafting learned starts from nothing, or from --calibration.
Result<Bench> set_up(const Values& values) {
  Bench b{.rounds = int(values.given("rounds") ? values.integer("rounds") : kRounds), .minutes = values.number("minutes"), .json = values.flag("json")};
  auto path = model_path(values);
  if (!path) return path.error();
  auto prompts = load_prompts(values, values.text("tasks"), values.integer("per-task"));
  if (!prompts) return prompts.error();
  b.prompts = std::move(*prompts);
  auto options = runtime_options(values);
  if (!options) return options.error();
  options->model_path = *path, options->kept_prefixes = 0;
  auto runtime = load_runtime(std::move(*options));
  if (!runtime) return runtime.error();
  b.runtime = std::move(*runtime);
  auto plain = b.runtime->make_engine(nullptr);
  if (!plain) return plain.error();
  b.plain = std::move(*plain);
  if (auto made = make_drafted(b); !made) return made.error();
  if (values.given("calibration")) {
    const auto calibration = Calibration::make(values, *b.runtime);
    if (!calibration) return calibration.error();
    calibration->recall(*b.drafted);
  }
  auto requests = make_requests(values, *b.runtime, b.prompts);
  if (!requests) return requests.error();
  b.requests = std::move(*requests);
  return b;
}

ordered_json json_of(const AnswerTimes& t) { return {{"decode_tok_per_s", t.tok_per_s}, {"decode_ms", t.decode_ms}, {"total_ms", t.total_ms}}; }

ordered_json json_of(const Pair& p, const Prompt& prompt) {
  const AnswerPair& t = p.times;
  const RequestAccount& a = t.account;
  ordered_json drafted = json_of(t.drafted);
  drafted.update({{"rounds", a.rounds}, {"drafted", a.drafted}, {"accepted", a.accepted}, {"balance_ms", a.balance_ms}, {"expected_tokens", t.expected_tokens},
                  {"got_tokens", t.got_tokens}, {"expected_ms", t.expected_ms}, {"took_ms", t.took_ms}});
  return {{"prompt", prompt.id}, {"task", prompt.task}, {"round", p.round}, {"at_ms", p.at_ms}, {"resident_bytes", p.resident_bytes}, {"tokens", t.tokens}, {"same", t.same},
          {"ratio", t.ratio()}, {"plain", json_of(t.plain)}, {"drafted", drafted}};
}

// Pairs until the rounds, or the minutes, are over. On Ctrl-C what was measured so far is kept.
Result<std::vector<Pair>> measure(Bench& b) {
  std::vector<Pair> pairs;
  const Clock& clock = b.runtime->clock;
  const double start_ms = clock.now_ms();
  for (int round = 0; b.minutes > 0 ? clock.now_ms() - start_ms < b.minutes * 6e4 : round < b.rounds; ++round) {
    if (round > 0 && b.minutes <= 0)
      if (auto made = forget_texts(b); !made) return made.error();
    for (size_t i = 0; i < b.prompts.size(); ++i) {
      Request request = b.requests[i];
      request.sampling.seed += uint64_t(round);
      const double at_ms = clock.now_ms() - start_ms;
      auto times = time_pair(*b.plain, *b.drafted, request, (round + int(i)) % 2 == 0, interrupted());
      if (interrupted()) return pairs;
      if (!times) return times.error();
      pairs.push_back({i, round, at_ms, resident_bytes(), std::move(*times)});
      if (b.json && !write_out(json_of(pairs.back(), b.prompts[i]).dump() + "\n")) return output_error();
    }
    if (!b.json) say(fmt::format("round {}: {} pairs, {:.0f} s so far", round + 1, b.prompts.size(), (clock.now_ms() - start_ms) / 1e3));
  }
  return pairs;
}

// One line of the table: of the pairs of a prompt, a task, or a round. The last column is the memory after the last of them.
std::string line_of(const std::string& name, const std::vector<const Pair*>& pairs) {
  std::vector<double> plain, drafted;
  double worst = 1, expected = 0, got = 0, expected_ms = 0, took_ms = 0;
  for (const Pair* p : pairs) {
    const AnswerPair& t = p->times;
    worst = std::min(worst, t.ledger());
    expected += t.expected_tokens, got += t.got_tokens, expected_ms += t.expected_ms, took_ms += t.took_ms;
    if (p->timed()) plain.push_back(t.plain.tok_per_s), drafted.push_back(t.drafted.tok_per_s);
  }
  const Interval ratio = bootstrap_ratio(drafted, plain);
  const auto number = [](double x, int digits) { return std::isnan(x) ? std::string("–") : fmt::format("{:.{}f}", x, digits); };
  return fmt::format("{:16}{:>6}{:>9}{:>9}{:>8} {:16}{:>8.1f}{:>9}{:>8}{:>8.0f}\n", name, pairs.size(), number(geometric_mean(plain), 2), number(geometric_mean(drafted), 2), number(ratio.estimate, 3),
                     fmt::format("[{}, {}]", number(ratio.low, 3), number(ratio.high, 3)), 100 * worst, number(expected / got, 3), number(expected_ms / took_ms, 3), double(pairs.back()->resident_bytes) / 1e6);
}

template <class Key>
std::string lines_by(const std::vector<Pair>& pairs, Key&& key) {
  std::vector<std::pair<std::string, std::vector<const Pair*>>> groups;
  for (const Pair& p : pairs) {
    const std::string name = key(p);
    auto group = std::ranges::find(groups, name, &std::pair<std::string, std::vector<const Pair*>>::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->second.push_back(&p);
  }
  std::string text;
  for (const auto& [name, members] : groups) text += line_of(name, members);
  return text;
}

std::string table_of(const Bench& b, const std::vector<Pair>& pairs) {
  return fmt::format("{:16}{:>6}{:>9}{:>9}{:>8} {:16}{:>8}{:>9}{:>8}{:>8}\n{:16}{:>6}{:>9}{:>9}{:>8} {:16}{:>8}{:>9}{:>8}{:>8}\n", "", "pairs", "plain", "drafted", "ratio", "95 % interval", "ledger", "tokens", "ms", "memory",
                     "", "", "tok/s", "tok/s", "", "", "worst, %", "foreseen", "", "MB") +
         lines_by(pairs, [&](const Pair& p) { return b.prompts[p.prompt].id; }) + "\n" + lines_by(pairs, [&](const Pair& p) { return b.prompts[p.prompt].task; }) + "\n" +
         lines_by(pairs, [](const Pair& p) { return fmt::format("round {}", p.round + 1); }) + "\n" + lines_by(pairs, [](const Pair&) { return std::string("all"); });
}

}  // namespace

int cmd_bench_answers(Values values) {
  auto bench = set_up(values);
  if (interrupted()) return interrupt_code();
  if (!bench) return report(bench.error());
  const auto pairs = measure(*bench);
  if (!pairs) return report(pairs.error());
  if (!bench->json && !pairs->empty() && !write_out(table_of(*bench, *pairs))) return report(output_error());
  const auto different = std::ranges::count_if(*pairs, [](const Pair& p) { return !p.times.same; });
  if (!bench->json) say(fmt::format("{} pairs, {} different texts", pairs->size(), different));
  return interrupted() ? interrupt_code() : different ? 1 : 0;
}

}  // namespace outrider::cli
