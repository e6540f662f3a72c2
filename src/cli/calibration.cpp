#include "cli/calibration.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "cli/machine.h"

namespace outrider::cli {

namespace {

constexpr const char* kHead = "outrider calibration 2\n";  // the number changes with the layout or the meaning of what follows
constexpr size_t kMostBytes = 1 << 20;

uint64_t fingerprint(std::string_view text) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  return hash;
}

std::string identity(const Model* model) {
  if (!model) return "none";
  return fmt::format("{} {} layers {} bytes", model->config().name, model->config().layers, model->weight_bytes());
}

const char* kv_name(kernels::KvType t) { return t == kernels::KvType::q8_0 ? "q8_0" : "f16"; }

std::string whole_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  in.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

}  // namespace

Result<Calibration> Calibration::make(const Values& values, const Runtime& r) {
  Calibration c;
  const std::string where = values.text("calibration");
  if (where == "off") return c;
  c.named_ = where != "auto";
  const std::filesystem::path cache = cache_folder();
  c.folder_ = c.named_ ? std::filesystem::path(where) : cache.empty() ? cache : cache / "calibration";
  std::error_code failed;
  if (c.named_ && !std::filesystem::is_directory(c.folder_, failed) && !std::filesystem::create_directories(c.folder_, failed))
    return Error{"--calibration: cannot make the folder " + where + (failed ? ": " + failed.message() : ""), "name a folder that can be written, or off", ErrorKind::usage};
  c.machine_and_models_ = fmt::format("{}, {}, {} threads; {}; draft {}; kv {} {} draft {} {}; {}\n", cpu_name(), r.kernels->name, r.pool->size(), identity(r.model.get()),
                                      identity(r.draft.get()), kv_name(r.options.k_type), kv_name(r.options.v_type), kv_name(r.options.draft_k_type),
                                      kv_name(r.options.draft_v_type), OUTRIDER_VERSION);
  return c;
}

std::string Calibration::key(const Engine& engine) const { return kHead + machine_and_models_ + std::string(engine.drafter_kind()) + "\n"; }

std::filesystem::path Calibration::file(const std::string& key) const { return folder_ / fmt::format("{:016x}", fingerprint(key)); }

// The key, the figures, and a checksum of both.
void Calibration::recall(Engine& engine) const {
  if (folder_.empty() || engine.drafter_kind() == "off") return;
  const std::string key = this->key(engine), text = whole_file(file(key));
  if (text.size() < key.size() + sizeof(uint64_t) || !text.starts_with(key)) return;
  const size_t end = text.size() - sizeof(uint64_t);
  uint64_t sum = 0;
  std::memcpy(&sum, text.data() + end, sizeof sum);
  if (sum != fingerprint(std::string_view(text).substr(0, end))) return;
  engine.recall(std::as_bytes(std::span(text).subspan(key.size(), end - key.size())));
}

Result<void> Calibration::keep(Engine& engine) const {
  if (folder_.empty() || engine.drafter_kind() == "off") return {};
  const std::string key = this->key(engine);
  const std::vector<std::byte> figures = engine.experience();
  std::string text = key;
  text.append(reinterpret_cast<const char*>(figures.data()), figures.size());
  const uint64_t sum = fingerprint(text);
  text.append(reinterpret_cast<const char*>(&sum), sizeof sum);

  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  const std::filesystem::path path = file(key), temporary = path.string() + fmt::format(".{}", ::getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(text.data(), std::streamsize(text.size()));
  out.close();
  if (out) std::filesystem::rename(temporary, path, failed);
  if (out && !failed) return {};
  std::filesystem::remove(temporary, failed);
  if (!named_) return {};
  return Error{"--calibration: cannot write into " + folder_.string(), "name a folder that can be written, or off"};
}

}  // namespace outrider::cli
