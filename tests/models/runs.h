#pragma once
// Loaded models and short ways to run requests on them.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "draft/fuzz.h"
#include "engine/engine.h"
#include "gguf/writer.h"
#include "models/model_files.h"
#include "quant/decode.h"
#include "quant/encode.h"
#include "support/drafters.h"
#include "support/files.h"
#include "text/tokenizer.h"

namespace outrider::test {

inline ThreadPool& pool() {
  static ThreadPool p(2);
  return p;
}
inline const kernels::Kernels& best_kernels() { return kernels::kernels_for(kernels::best_isa()); }

inline std::unique_ptr<Model> load(const std::string& path) {
  auto model = load_model(path, pool());
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  return model ? std::move(*model) : nullptr;
}

// A copy of a model file in which `change` may edit the decoded values of each matrix, re-encoded as `type` (norms stay F32).
using Edit = std::function<void(const TensorInfo&, std::vector<float>&)>;
inline void write_edited_copy(const std::string& from, const std::string& to, std::optional<QuantType> type, const Edit& change = {}) {
  auto file = GgufFile::open(from);
  ASSERT_TRUE(file.ok());
  GgufWriter writer;
  writer.copy_keys(*file);
  for (const TensorInfo& t : file->tensors()) {
    const bool matrix = t.dims.size() > 1 && t.type != QuantType::f32;
    const QuantType target = matrix && type ? *type : t.type == QuantType::f32 || !matrix ? t.type : QuantType::q8_0;
    writer.add_tensor(t.name, target, t.dims, [&file, &t, target, &change]() -> Result<GgufWriter::Bytes> {
      GgufWriter::Bytes raw(t.size_bytes);
      if (auto r = file->read(t, 0, raw); !r) return r.error();
      std::vector<float> values(t.elements());
      decode(t.type, raw.data(), values.size(), values.data());
      if (change) change(t, values);
      GgufWriter::Bytes out(*bytes_for(target, values.size()));
      encode(target, values.data(), values.size(), out.data());
      return out;
    });
  }
  const auto written = writer.write(to);
  ASSERT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
}

struct Bench {
  const Model& model;
  Tokenizer tokenizer;
  SteadyClock clock;
  EngineOptions options{.context = 1024};

  explicit Bench(const Model& m) : model(m), tokenizer(std::move(*Tokenizer::make(m.vocabulary()))) {}

  std::unique_ptr<Engine> engine(std::unique_ptr<Drafter> drafter) const {
    auto e = Engine::make(model, best_kernels(), pool(), clock, std::move(drafter), options);
    EXPECT_TRUE(e.ok()) << (e.ok() ? "" : e.error().message);
    return std::move(*e);
  }
  Drafters drafters() const { return {best_kernels(), pool(), clock, options.context, 1}; }
  std::unique_ptr<Drafter> by_model(const Model& draft, int max, float p_min = 0, kernels::KvType kv = kernels::KvType::f16) const {
    return drafters().by_model(draft, max, p_min, kv);
  }
  std::unique_ptr<Drafter> by_lookup(int max) const { return drafters().by_source("lookup", max); }

  Request request(const std::string& prompt, int64_t tokens, float temperature = 0) const {
    Request r;
    r.prompt = tokenizer.encode(prompt, {.parse_special = true, .add_special = true});
    r.max_tokens = tokens, r.sampling.temperature = temperature;
    return r;
  }
  Engine::Answer run(std::unique_ptr<Drafter> drafter, const Request& request) const {
    auto e = engine(std::move(drafter));
    return run_on(*e, request);
  }
  static Engine::Answer run_on(Engine& e, const Request& request) {
    const auto id = e.submit(request);
    EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().message);
    if (!id) return {};
    while (!e.idle()) e.step();
    Engine::Answer answer = e.answer(*id);
    e.release(*id);
    const RequestAccount& a = answer.account;
    EXPECT_EQ(a.emitted, a.rounds + a.accepted - a.cut);
    EXPECT_EQ(a.drafted, a.accepted + a.rejected + a.untested);
    return answer;
  }
};

}  // namespace outrider::test
