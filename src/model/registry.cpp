// Which architecture is which family.
#include "model/gemma3.h"
#include "model/llama.h"

namespace outrider {

namespace {

using Make = std::unique_ptr<Model> (*)(Config, Vocabulary, std::string path);

template <class T>
std::unique_ptr<Model> make(Config config, Vocabulary vocabulary, std::string path) {
  return std::make_unique<T>(std::move(config), std::move(vocabulary), std::move(path));
}

struct Family {
  const char* architecture;
  Make make;
  bool interleaved_rope = false;  // the converter permutes q and k rows of llama files
  int sliding_period = 0;
  Result<void> (*read_keys)(const GgufFile&, Config&) = nullptr;  // those of its own
};

constexpr Family kFamilies[] = {
    {"llama", make<Llama>, true},
    {"qwen2", make<Llama>},
    {"qwen3", make<Llama>},
    {"gemma3", make<Gemma3>, false, Gemma3::kSlidingPeriod, Gemma3::read_keys},
};

}  // namespace

struct ModelLoading {
  static void keep(Model& model, Memory weights, std::vector<kernels::Matrix*> matrices) { model.weights_ = std::move(weights), model.matrices_ = std::move(matrices); }
};

std::vector<TokenId> Model::padding_ids() const {
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < TokenId(config_.vocabulary); ++id)
    if (!vocabulary_.contains(id) || vocabulary_.is_padding(id)) ids.push_back(id);
  return ids;
}

std::string supported_architectures() {
  std::string names;
  for (const Family& f : kFamilies) names += (names.empty() ? "" : ", ") + std::string(f.architecture);
  return names;
}

namespace {

// The model with nothing loaded yet, and the loader that knows its tensors.
struct Opened {
  std::unique_ptr<GgufFile> file;
  std::unique_ptr<Model> model;
  std::unique_ptr<WeightLoader> loader;
};

Result<Opened> open_model(const std::string& path, const LoadOptions& options) {
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  const auto architecture = file->string("general.architecture");
  if (!architecture) return architecture.error();
  const Family* family = nullptr;
  for (const Family& f : kFamilies)
    if (*architecture == f.architecture) family = &f;
  if (!family) return Error{path + ": architecture «" + printable(*architecture) + "» is not one we can run", "supported: " + supported_architectures()};
  auto config = read_config(*file, family->interleaved_rope, family->sliding_period);
  if (!config) return config.error();
  if (family->read_keys)
    if (auto r = family->read_keys(*file, *config); !r) return r.error();
  auto vocabulary = read_vocabulary(*file);
  if (!vocabulary) return vocabulary.error();
  Opened opened;
  opened.file = std::make_unique<GgufFile>(std::move(*file));
  opened.model = family->make(std::move(*config), std::move(*vocabulary), path);
  opened.loader = std::make_unique<WeightLoader>(*opened.file, options);
  opened.model->declare(*opened.loader);
  if (opened.loader->error()) return *opened.loader->error();
  return opened;
}

}  // namespace

Result<ModelPlan> plan_model(const std::string& path, const LoadOptions& options) {
  auto opened = open_model(path, options);
  if (!opened) return opened.error();
  return ModelPlan{opened->model->config(), opened->model->vocabulary(), opened->loader->bytes()};
}

Result<std::unique_ptr<Model>> load_model(const std::string& path, ThreadPool& pool, const LoadProgress& progress, const LoadOptions& options) {
  auto opened = open_model(path, options);
  if (!opened) return opened.error();
  auto weights = opened->loader->load(pool, progress);
  if (!weights) return weights.error();
  ModelLoading::keep(*opened->model, std::move(*weights), opened->loader->matrices());
  return std::move(opened->model);
}

}  // namespace outrider
