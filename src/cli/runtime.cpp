#include "cli/runtime.h"

#include <fmt/core.h>

#include <cstdlib>

#include "cli/model_file.h"
#include "cli/plan.h"
#include "cli/terminal.h"
#include "draft/blend.h"
#include "model/fetch_choice.h"

namespace outrider::cli {

kernels::KvType kv_type(const std::string& name) { return name == "q8_0" ? kernels::KvType::q8_0 : kernels::KvType::f16; }

EngineOptions engine_options(const RuntimeOptions& o) {
  return {.context = o.context, .requests = o.requests, .kept_prefixes = o.kept_prefixes, .k_type = o.k_type, .v_type = o.v_type};
}

ModelWriter::Options writer_options(const RuntimeOptions& o) {
  return {.k_type = o.draft_k_type, .v_type = o.draft_v_type, .context = o.context, .requests = o.requests, .kept_prefixes = o.kept_prefixes};
}

LoadOptions draft_loading(const SpecPlan& spec) {
  if (spec.exact) return {};
  return {.narrow = LoadOptions::kBestFourBits};
}

Result<const kernels::Kernels*> choose_kernels() {
  const char* wanted = std::getenv("OUTRIDER_ISA");
  kernels::Isa isa = kernels::best_isa();
  if (wanted && *wanted) {
    if (!kernels::parse_isa(wanted, isa)) return Error{"OUTRIDER_ISA is «" + std::string(wanted) + "»", "use scalar, avx2, avxvnni or avx512", ErrorKind::usage};
    if (!kernels::isa_supported(isa)) return Error{"this processor has no " + std::string(wanted), "leave OUTRIDER_ISA unset", ErrorKind::usage};
  }
  return &kernels::kernels_for(isa);
}

Result<std::string> model_path(const Values& values) {
  const std::string path = find_model(values.text("model"));
  if (path.empty()) return Error{"no model given", "name a GGUF file with -m FILE", ErrorKind::usage};
  return path;
}

Result<RuntimeOptions> runtime_options(const Values& values) {
  RuntimeOptions o;
  o.draft_path = find_model(values.text("draft"));
  o.verbose = values.flag("verbose");
  if (values.given("threads")) o.threads = int(values.integer("threads"));
  if (values.given("ctx-size")) o.context = values.integer("ctx-size");
  o.k_type = kv_type(values.text("cache-type-k")), o.v_type = kv_type(values.text("cache-type-v"));
  o.draft_k_type = kv_type(values.text("draft-cache-type-k")), o.draft_v_type = kv_type(values.text("draft-cache-type-v"));
  auto spec = plan_speculation(values);
  if (!spec) return spec.error();
  o.spec = *spec;
  if (values.text("accept") == "rejection") o.acceptance = AcceptRule::rejection;
  return o;
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& path, Vocabulary& vocabulary) {
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  auto read = read_vocabulary(*file);
  if (!read) return read.error();
  vocabulary = std::move(*read);
  auto tokenizer = Tokenizer::make(vocabulary);
  if (!tokenizer) return tokenizer.error();
  return std::make_unique<Tokenizer>(std::move(*tokenizer));
}

namespace {

Result<void> plan_and_tell(Runtime& r) {
  const auto plan = plan_load(r.options, r.model != nullptr);
  if (!plan) return plan.error();
  r.translator = plan->translator;
  if (r.options.verbose) say(fmt::format("{}\n{} threads on {} usable processors, kernels {}", memory_table(*plan), r.pool->size(), usable_cpus(), r.kernels->name));
  return check_fits(*plan);
}

void choose_fetch_of(Model& model, const Runtime& r) { model.set_fetch(choose_fetch(model.matrices(), *r.kernels, *r.pool, r.clock)); }

Result<void> read_draft(Runtime& r) {
  auto draft = load_model(r.options.draft_path, *r.pool, load_progress("loading the draft model"), draft_loading(r.options.spec));
  clear_progress();
  if (!draft) return draft.error();
  r.draft = std::move(*draft), r.draft_exact = r.options.spec.exact;
  choose_fetch_of(*r.draft, r);
  return {};
}

}  // namespace

Result<std::unique_ptr<Runtime>> load_runtime(RuntimeOptions options) {
  auto r = std::make_unique<Runtime>();
  const double start_ms = r->clock.now_ms();
  const auto kernels = choose_kernels();
  if (!kernels) return kernels.error();
  r->kernels = *kernels;
  r->options = std::move(options);
  if (r->options.threads > 2 * usable_cpus())
    warn(fmt::format("{} threads on {} usable processors will wait for each other; leave out -t to have one each", r->options.threads, usable_cpus()));
  r->pool = std::make_unique<ThreadPool>(r->options.threads > 0 ? r->options.threads : usable_cpus());
  if (auto planned = plan_and_tell(*r); !planned) return planned.error();
  auto model = load_model(r->options.model_path, *r->pool, load_progress("loading the model"));
  clear_progress();
  if (!model) return model.error();
  r->model = std::move(*model);
  choose_fetch_of(*r->model, *r);
  if (r->options.context > r->model->config().context_length)
    warn("a context of " + std::to_string(r->options.context) + " tokens is beyond the " + std::to_string(r->model->config().context_length) + " the model was trained for");
  auto tokenizer = Tokenizer::make(r->model->vocabulary());
  if (!tokenizer) return tokenizer.error();
  r->tokenizer = std::make_unique<Tokenizer>(std::move(*tokenizer));
  if (r->options.spec.model)
    if (auto read = read_draft(*r); !read) return read.error();
  r->load_ms = r->clock.now_ms() - start_ms;
  return r;
}

Result<std::unique_ptr<Runtime>> load_target(const Values& values) {
  auto path = model_path(values);
  if (!path) return path.error();
  RuntimeOptions options;
  options.model_path = *path;
  if (values.given("threads")) options.threads = int(values.integer("threads"));
  options.context = 64;
  return load_runtime(std::move(options));
}

Result<void> Runtime::load_draft() {
  if (!options.spec.model || (draft && draft_exact == options.spec.exact)) return {};
  draft.reset();
  if (auto planned = plan_and_tell(*this); !planned) return planned;
  return options.spec.model ? read_draft(*this) : Result<void>();
}

Result<std::unique_ptr<Drafter>> Runtime::make_drafter() const {
  const SpecPlan& spec = options.spec;
  if (spec.off()) return std::unique_ptr<Drafter>();
  std::unique_ptr<ModelWriter> writer;
  if (spec.model) {
    OUTRIDER_CHECK(draft != nullptr);
    auto wanted = writer_options(options);
    wanted.min_probability = spec.limits.min_probability, wanted.whole_head = spec.exact;
    wanted.temperature = spec.draft_temperature, wanted.top_k = spec.draft_top_k;
    wanted.relative_cost = double(draft->weight_bytes()) / double(model->weight_bytes());
    auto made = ModelWriter::make(*draft, *kernels, *pool, clock, wanted, translator);
    if (!made) return made.error();
    writer = std::move(*made);
  }
  auto sources = make_sources(spec.sources, spec.source_options);
  Blend::Options how{.limits = spec.limits, .automatic = !spec.fixed, .context = options.context, .requests = options.requests};
  for (size_t k = 0; k < sources.size(); ++k) how.each[k] = spec.limits_of(sources[k]->name());
  if (writer) how.each[sources.size()] = spec.limits_of("model");
  return std::unique_ptr<Drafter>(std::make_unique<Blend>(std::move(sources), std::move(writer), clock, how));
}

Result<std::unique_ptr<Engine>> Runtime::make_engine(std::unique_ptr<Drafter> drafter) const {
  return Engine::make(*model, *kernels, *pool, clock, std::move(drafter), engine_options(options));
}

}  // namespace outrider::cli
