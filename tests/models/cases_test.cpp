// Faults that users met elsewhere, on real models, through the engine. The numbers are those of the collected cases.
#include <set>

#include "models/runs.h"

namespace outrider::test {
namespace {


class Smol : public testing::Test {
 protected:
  std::unique_ptr<Model> model = load(model_path(kSmol));
  Bench bench{*model};
};

std::string hash_list(std::string* first) {
  const char* alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint64_t state = 9;
  for (int i = 0; i < 12; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "mod-%02d v1.%d.0 h1:", i, i);
    std::string line = name;
    for (int c = 0; c < 43; ++c) state = state * 6364136223846793005ull + 1442695040888963407ull, line += alphabet[state >> 58];
    line += "=\n";
    if (i == 0) *first = line;
    text += line;
  }
  return text;
}

void self_draft_equals_plain(const char* name) {
  const auto model = load(model_path(name));
  Bench bench(*model);
  for (const char* prompt : {"You are", "List three colours:"}) {
    for (const int64_t tokens : {4, 64}) {
      const auto plain = bench.run(nullptr, bench.request(prompt, tokens));
      for (const int k : {1, 3, 8}) {
        const auto spec = bench.run(bench.by_model(*model, k), bench.request(prompt, tokens));
        EXPECT_EQ(spec.tokens, plain.tokens) << prompt << " k=" << k;
        EXPECT_EQ(spec.finish, plain.finish);
        EXPECT_EQ(spec.account.rejected, 0);
        EXPECT_EQ(spec.account.untested, 0);
        EXPECT_GT(spec.account.accepted, 0);
      }
    }
  }
}

TEST(C01, SelfDraftEqualsPlainSmol) { self_draft_equals_plain(kSmol); }
TEST(C01, SelfDraftEqualsPlainQwen) { self_draft_equals_plain(kQwen05); }
TEST(C01, SelfDraftEqualsPlainGemma) { self_draft_equals_plain(kGemma); }

class Quant : public Smol {  // target Q8_0, draft 4 bit, of the same weights
 protected:
  TemporaryFolder folder;
  std::unique_ptr<Model> target;
  void SetUp() override {
    write_edited_copy(model_path(kSmol), folder / "q8_0.gguf", QuantType::q8_0);
    target = load(folder / "q8_0.gguf");
    ASSERT_NE(target, nullptr);
  }
};

TEST_F(Quant, C03DepthSweepGivesOneText) {
  const Bench b(*target);
  std::string prompt = "Complete this program.\n\n";
  for (int i = 0; i < 12; ++i) prompt += "def add_" + std::to_string(i) + "(a, b):\n    return a + b + " + std::to_string(i) + "\n\n";
  const auto request = b.request(prompt + "def add_", 128);
  const auto plain = b.run(nullptr, request);
  for (const int k : {1, 2, 3, 4, 5, 7, 8, 15, 16, 31}) {
    const auto spec = b.run(b.by_model(*model, k), request);
    EXPECT_EQ(spec.tokens, plain.tokens) << "k=" << k;
    EXPECT_GT(spec.account.accepted, 0);
  }
}

TEST_F(Quant, C07KvTypesOfTheDraftNeverChangeTheText) {
  Bench b(*target);
  const std::string prompt = "<|im_start|>user\nWrite a Python function that reverses a string, then explain it.<|im_end|>\n<|im_start|>assistant\n";
  for (const auto kv : {kernels::KvType::f16, kernels::KvType::q8_0}) {
    b.options.k_type = b.options.v_type = kv;
    const auto request = b.request(prompt, 200);
    const auto plain = b.run(nullptr, request);
    const auto half = b.run(b.by_model(*model, 6, 0, kernels::KvType::f16), request), eight = b.run(b.by_model(*model, 6, 0, kernels::KvType::q8_0), request);
    EXPECT_EQ(half.tokens, plain.tokens);
    EXPECT_EQ(eight.tokens, plain.tokens);
    const double half_rate = double(half.account.accepted) / double(half.account.drafted), eight_rate = double(eight.account.accepted) / double(eight.account.drafted);
    EXPECT_GE(eight_rate, 0.8 * half_rate);
  }
}

TEST_F(Quant, C26CountersAddUp) {
  const Bench b(*target);
  const auto request = b.request("The history of the bicycle begins", 200);
  for (const int min : {4, 0}) {
    const auto with = b.drafters();
    auto d = std::make_unique<Blend>(std::vector<std::unique_ptr<Source>>(), with.writer(*model, min ? 0 : 0.8f), b.clock,
                                     Blend::Options{.limits = {.max = 6, .min = min}, .automatic = false, .width = 1, .context = 1024});
    const auto a = b.run(std::move(d), request).account;  // run() checks the identities
    int64_t drafted = 0, accepted = 0;
    for (size_t i = 0; i < a.drafted_by_position.size(); ++i) {
      drafted += a.drafted_by_position[i], accepted += a.accepted_by_position[i];
      if (i > 0) { EXPECT_LE(a.accepted_by_position[i], a.accepted_by_position[i - 1]); }
    }
    EXPECT_EQ(drafted, a.drafted);
    EXPECT_EQ(accepted, a.accepted);
  }
}

TEST_F(Smol, C05CopiedHashesWhereEveryDraftIsRight) {
  std::string first;
  const std::string list = hash_list(&first);
  bench.options.context = 2048;
  const auto request = bench.request(list + "\nCopy the list above exactly:\n" + first, 300);
  const auto plain = bench.run(nullptr, request);
  const auto self = bench.run(bench.by_model(*model, 16), request);
  EXPECT_EQ(self.tokens, plain.tokens);
  EXPECT_EQ(self.account.rejected, 0);
  const auto ngram = bench.run(bench.by_lookup(16), request);
  EXPECT_EQ(ngram.tokens, plain.tokens);
  EXPECT_GT(ngram.account.accepted, ngram.account.drafted / 2);
  EXPECT_GT(ngram.account.accepted_by_position[7], 0);  // long drafts were accepted whole
}

TEST_F(Smol, C08TemperatureReallySamples) {
  std::array<std::set<TokenId>, 3> seen;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    auto request = bench.request("My favourite animal is the", 3, 1.5f);
    request.sampling.top_p = 1, request.sampling.seed = seed, request.ignore_end = true;
    const auto spec = bench.run(bench.by_model(*model, 4), request);
    ASSERT_EQ(spec.tokens, bench.run(nullptr, request).tokens) << seed;
    for (size_t i = 0; i < 3; ++i) seen[i].insert(spec.tokens[i]);
  }
  EXPECT_GE(seen[1].size(), 8u);
  EXPECT_GE(seen[2].size(), 8u);
}

TEST_F(Smol, C10FrequencyPenaltyWorksUnderSpeculation) {
  std::map<float, std::vector<TokenId>> texts;
  for (const float penalty : {-2.0f, 0.0f, 2.0f}) {
    auto request = bench.request("Say hello many times: hello hello", 24);
    request.sampling.frequency_penalty = penalty;
    texts[penalty] = bench.run(nullptr, request).tokens;
    EXPECT_EQ(bench.run(bench.by_model(*model, 4), request).tokens, texts[penalty]);
    EXPECT_EQ(bench.run(bench.by_lookup(4), request).tokens, texts[penalty]);
  }
  EXPECT_NE(texts[-2.0f], texts[2.0f]);
}

TEST_F(Smol, C12BannedTokensStayBanned) {
  auto request = bench.request("The sky is", 12);
  const auto free = bench.run(nullptr, request).tokens;
  request.sampling.logit_bias = {{free[1], kBanBias}, {free[4], kBanBias}};
  request.max_tokens = 40;
  const auto plain = bench.run(nullptr, request).tokens, spec = bench.run(bench.by_model(*model, 6), request).tokens;
  EXPECT_EQ(spec, plain);
  for (const TokenId t : spec) EXPECT_TRUE(t != free[1] && t != free[4]);
}

TEST_F(Smol, C14NothingFollowsTheEndOfTheTurn) {
  for (const char* text : {"Reply with the single word OK.", "Hi"}) {
    const auto request = bench.request("<|im_start|>user\n" + std::string(text) + "<|im_end|>\n<|im_start|>assistant\n", 200);
    const auto plain = bench.run(nullptr, request), spec = bench.run(bench.by_model(*model, 8), request);
    EXPECT_EQ(spec.tokens, plain.tokens);
    EXPECT_EQ(spec.finish, plain.finish);
    for (const TokenId t : spec.tokens) EXPECT_FALSE(model->vocabulary().ends_generation(t));
  }
}

TEST_F(Smol, C28RepeatedPromptsAreNotFlattered) {
  const auto request = bench.request("Name five rivers of Europe:", 60);
  std::optional<RequestAccount> first;
  for (int i = 0; i < 3; ++i) {
    const auto a = bench.run(bench.by_lookup(16), request).account;
    if (!first) first = a;
    EXPECT_EQ(a.drafted, first->drafted);
    EXPECT_EQ(a.accepted, first->accepted);
  }
  auto engine = bench.engine(bench.by_lookup(16));  // the same on an engine that keeps prefixes: lookup does not know the earlier answers
  for (int i = 0; i < 3; ++i) EXPECT_LE(Bench::run_on(*engine, request).account.accepted, first->accepted + 3);
}

TEST_F(Smol, C41ColdEqualsCached) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Line " + std::to_string(i) + " of the log says that all is well. ";
  const auto request = bench.request(text, 32);
  bench.options.context = 2048;
  const auto cold = bench.run(nullptr, request);
  for (int kind = 0; kind < 2; ++kind) {
    auto engine = bench.engine(kind ? bench.by_model(*model, 4) : nullptr);
    for (int i = 0; i < 3; ++i) {
      const auto answer = Bench::run_on(*engine, request);
      EXPECT_EQ(answer.tokens, cold.tokens) << i;
      EXPECT_EQ(answer.account.prompt_tokens, int64_t(request.prompt.size()));
      if (i > 0) { EXPECT_GE(answer.account.cached_tokens, answer.account.prompt_tokens * 95 / 100); }
    }
    auto next = request;  // the conversation goes on
    next.prompt.insert(next.prompt.end(), cold.tokens.begin(), cold.tokens.end());
    const auto more = bench.tokenizer.encode("\nAnd then?", {});
    next.prompt.insert(next.prompt.end(), more.begin(), more.end());
    EXPECT_EQ(Bench::run_on(*engine, next).tokens, bench.run(nullptr, next).tokens);
  }
}

// Useless and broken drafters change nothing but the time.
TEST_F(Smol, BrokenAndDeadDraftersAreHarmless) {
  TemporaryFolder folder;
  const int layers = model->config().layers;
  write_edited_copy(model_path(kSmol), folder / "broken.gguf", std::nullopt, [layers](const TensorInfo& t, std::vector<float>& values) {
    if (t.name.find("ffn_down") != std::string::npos && std::atoi(t.name.c_str() + 4) >= layers / 2) std::fill(values.begin(), values.end(), 0.0f);
  });
  write_edited_copy(model_path(kSmol), folder / "dead.gguf", std::nullopt, [](const TensorInfo& t, std::vector<float>& values) {
    if (t.name == "output_norm.weight") std::fill(values.begin(), values.end(), 0.0f);
  });
  for (const float temperature : {0.0f, 0.8f}) {
    const auto request = bench.request("Two plus two is", 60, temperature);
    const auto plain = bench.run(nullptr, request);
    for (const char* name : {"broken.gguf", "dead.gguf"}) {
      const auto bad = load(folder / name);
      EXPECT_EQ(bench.run(bench.by_model(*bad, 5), request).tokens, plain.tokens) << name;
    }
  }
}

TEST_F(Smol, FuzzedDraftsOnARealModel) {
  for (const float temperature : {0.0f, 0.8f}) {
    auto request = bench.request("Once upon a time", 80, temperature);
    request.sampling.repeat_penalty = 1.1f;
    const auto plain = bench.run(nullptr, request);
    for (uint64_t seed = 0; seed < 6; ++seed)
      EXPECT_EQ(bench.run(std::make_unique<FuzzDrafter>(seed, 49152, plain.tokens), request).tokens, plain.tokens) << seed;
  }
}

TEST(C32, ADrafterOfAnotherVocabulary) {
  const auto smol = load(model_path(kSmol)), qwen = load(model_path(kQwen05));
  EXPECT_FALSE(compare_vocabularies(qwen->vocabulary(), smol->vocabulary()).compatible);
  const auto translator = [&] { return Translator::between(qwen->vocabulary(), smol->vocabulary(), qwen->config().vocabulary); };
  Bench bench(*qwen);
  for (const float temperature : {0.0f, 0.8f}) {
    for (const char* prompt : {"def reverse(text):\n    \"\"\"", "Ein Gedicht über 猫 und Bäume:\n"}) {
      const auto request = bench.request(prompt, 60, temperature);
      const auto plain = bench.run(nullptr, request);
      const auto drafted = bench.run(bench.drafters().blend({}, bench.drafters().writer(*smol, 0, kernels::KvType::f16, translator()), 6), request);
      EXPECT_EQ(drafted.tokens, plain.tokens) << prompt;
      EXPECT_GT(drafted.account.accepted, 5) << prompt;
    }
  }
}

}  // namespace
}  // namespace outrider::test
