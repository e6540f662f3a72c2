#pragma once
// Drafters for tests: fixed ones, which draft all that is allowed whatever it costs, so that a test does not depend on the clock.
#include <gtest/gtest.h>

#include "draft/blend.h"
#include "draft/kinds.h"

namespace outrider::test {

struct Drafters {
  const kernels::Kernels& kernels;
  ThreadPool& pool;
  const Clock& clock;
  int64_t context = 512;
  int requests = 4;

  std::unique_ptr<ModelWriter> writer(const Model& model, float p_min = 0, kernels::KvType kv = kernels::KvType::f16, std::unique_ptr<const Translator> translator = nullptr) const {
    auto w = ModelWriter::make(model, kernels, pool, clock, {.k_type = kv, .v_type = kv, .context = context, .requests = requests, .min_probability = p_min, .whole_head = true}, std::move(translator));
    EXPECT_TRUE(w.ok());
    return std::move(*w);
  }
  std::unique_ptr<Drafter> blend(std::vector<std::unique_ptr<Source>> sources, std::unique_ptr<ModelWriter> writer, int max, int width = 1, bool automatic = false) const {
    return std::make_unique<Blend>(std::move(sources), std::move(writer), clock,
                                   Blend::Options{.limits = {.max = max}, .automatic = automatic, .width = width, .context = context, .requests = requests});
  }
  std::unique_ptr<Drafter> by_model(const Model& model, int max, float p_min = 0, kernels::KvType kv = kernels::KvType::f16, int width = 1) const {
    return blend({}, writer(model, p_min, kv), max, width);
  }
  std::unique_ptr<Drafter> by_source(std::string_view name, int max, int width = 1) const {
    return blend(make_sources(std::array{name}), nullptr, max, width);
  }
  std::unique_ptr<Drafter> by_all(const Model& model, int max, bool automatic = false) const { return blend(make_all_sources(), writer(model), max, 3, automatic); }
};

}  // namespace outrider::test
