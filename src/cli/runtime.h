#pragma once
// A loaded target, its drafters and an engine, made from the options of a call.
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/threads.h"
#include "cli/options.h"
#include "cli/spec.h"
#include "draft/model_writer.h"
#include "engine/engine.h"
#include "text/tokenizer.h"

namespace outrider::cli {

inline constexpr int64_t kDefaultContext = 4096;  // tokens, or the model's limit

struct RuntimeOptions {
  std::string model_path, draft_path;
  int threads = 0;      // 0: usable_cpus()
  int64_t context = 0;  // 0: kDefaultContext or the model's limit
  kernels::KvType k_type = kernels::KvType::f16, v_type = kernels::KvType::f16;
  kernels::KvType draft_k_type = kernels::KvType::f16, draft_v_type = kernels::KvType::f16;
  SpecPlan spec;
  AcceptRule acceptance = AcceptRule::equality;
  int requests = 1;
  int kept_prefixes = 1;
  bool verbose = false;  // tell the plan before loading
};
EngineOptions engine_options(const RuntimeOptions& options);
// Drafts need not be exact: a draft model is narrowed to four bits, unless `spec` wants it as it is.
LoadOptions draft_loading(const SpecPlan& spec);
ModelWriter::Options writer_options(const RuntimeOptions& options);

struct Runtime {
  SteadyClock clock;
  const kernels::Kernels* kernels = nullptr;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Model> model, draft;
  std::shared_ptr<const Translator> translator;  // between those two; null where they number their tokens alike
  bool draft_exact = false;                      // as its file is: how it was loaded
  std::unique_ptr<Tokenizer> tokenizer;
  RuntimeOptions options;
  double load_ms = 0;

  // Loads the draft model as options.spec wants it, if that is not how it is there; in vain, with a warning, where `auto` would not use
  // it. Engine and drafters must be gone: their memory counts as free.
  Result<void> load_draft();
  // A drafter as options.spec wants it; null when it is off.
  Result<std::unique_ptr<Drafter>> make_drafter() const;
  Result<std::unique_ptr<Engine>> make_engine(std::unique_ptr<Drafter> drafter) const;
};

// What --cache-type-k and --cache-type-v take.
kernels::KvType kv_type(const std::string& name);
Result<RuntimeOptions> runtime_options(const Values& values);
Result<std::unique_ptr<Runtime>> load_runtime(RuntimeOptions options);
// Only the header: vocabulary and tokenizer, for commands that need no weights.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& path, Vocabulary& vocabulary);
// The kernel table, by OUTRIDER_ISA or the widest this machine has.
Result<const kernels::Kernels*> choose_kernels();
// The model of -m alone, for commands that keep pages of their own.
Result<std::unique_ptr<Runtime>> load_target(const Values& values);
// The path of the model that the call names.
Result<std::string> model_path(const Values& values);

}  // namespace outrider::cli
