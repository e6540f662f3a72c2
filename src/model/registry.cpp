// Which architecture is which family.
#include "model/llama.h"

namespace outrider {

namespace {

struct Family {
  const char* architecture;
  bool interleaved_rope;  // the converter permutes q and k rows of llama files
};

constexpr Family kFamilies[] = {{"llama", true}, {"qwen2", false}, {"qwen3", false}};

}  // namespace

struct ModelLoading {
  static void keep(Model& model, Memory weights) { model.weights_ = std::move(weights); }
};

std::string supported_architectures() {
  std::string names;
  for (const Family& f : kFamilies) names += (names.empty() ? "" : ", ") + std::string(f.architecture);
  return names;
}

Result<std::unique_ptr<Model>> load_model(const std::string& path, ThreadPool& pool, const LoadProgress& progress) {
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  const auto architecture = file->string("general.architecture");
  if (!architecture) return architecture.error();
  const Family* family = nullptr;
  for (const Family& f : kFamilies)
    if (*architecture == f.architecture) family = &f;
  if (!family) return Error{path + ": architecture «" + printable(*architecture) + "» is not one we can run", "supported: " + supported_architectures()};
  auto config = read_config(*file, family->interleaved_rope);
  if (!config) return config.error();
  auto vocabulary = read_vocabulary(*file);
  if (!vocabulary) return vocabulary.error();
  auto model = std::make_unique<Llama>(std::move(*config), std::move(*vocabulary), path);
  WeightLoader loader(*file);
  model->declare(loader);
  auto weights = loader.load(pool, progress);
  if (!weights) return weights.error();
  ModelLoading::keep(*model, std::move(*weights));
  return std::unique_ptr<Model>(std::move(model));
}

}  // namespace outrider
