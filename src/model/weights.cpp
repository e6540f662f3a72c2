#include "model/weights.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "quant/decode.h"
#include "quant/encode_fast.h"

namespace outrider {

namespace {

constexpr int64_t kSliceBytes = 1 << 18;  // read and repacked at once by one thread, in the nearest caches

struct Slice {
  size_t wanted;
  int64_t first_tile, tiles;
};

// Rows of `columns` weights each, from one type to another.
void encode_again(QuantType from, const std::vector<std::byte>& rows, int64_t columns, QuantType to, std::vector<std::byte>& out) {
  const size_t from_bytes = *bytes_for(from, size_t(columns)), to_bytes = *bytes_for(to, size_t(columns)), count = rows.size() / from_bytes;
  thread_local std::vector<float> values;
  values.resize(size_t(columns)), out.resize(count * to_bytes);
  for (size_t r = 0; r < count; ++r) {
    decode(from, rows.data() + r * from_bytes, size_t(columns), values.data());
    encode_fast(to, values.data(), size_t(columns), out.data() + r * to_bytes);
  }
}

}  // namespace

void WeightLoader::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

size_t WeightLoader::place(size_t bytes) {
  const size_t at = bytes_;
  bytes_ = (bytes_ + bytes + 63) / 64 * 64;
  return at;
}

const TensorInfo* WeightLoader::expect(const std::string& name, int64_t rows, int64_t columns) {
  const auto found = file_.tensor(name);
  if (!found) return fail(found.error()), nullptr;
  const TensorInfo& t = **found;
  if (int64_t(t.rows()) != rows || int64_t(t.row_elements()) != columns)
    return fail({file_.path() + ": tensor «" + name + "» is " + std::to_string(t.rows()) + " × " + std::to_string(t.row_elements()) + ", expected " +
                     std::to_string(rows) + " × " + std::to_string(columns),
                 "the file is damaged or of an unknown variant"}),
           nullptr;
  if (!traits(t.type).runnable) return fail(unrunnable_type_error(file_.path(), t)), nullptr;
  return &t;
}

void WeightLoader::matrix(const std::string& name, int64_t rows, int64_t columns, kernels::Matrix* target, std::optional<QuantType> narrow) {
  const TensorInfo* tensor = expect(name, rows, columns);
  if (!tensor) return;
  target->layout = kernels::matrix_layout(tensor->type, rows, columns);
  const bool wide = target->layout.codes != kernels::Codes::n4 && target->layout.codes != kernels::Codes::n4_table;
  if (narrow && wide && bytes_for(*narrow, size_t(columns))) target->layout = kernels::matrix_layout(*narrow, rows, columns);
  kernels::set_table(*target);
  wanted_.push_back({tensor, target, nullptr, place(size_t(target->layout.bytes()))});
}

void WeightLoader::vector(const std::string& name, int64_t size, const float** target) {
  const TensorInfo* tensor = expect(name, 1, size);
  if (tensor) wanted_.push_back({tensor, nullptr, target, place(size_t(size) * sizeof(float))});
}

void WeightLoader::optional_vector(const std::string& name, int64_t size, const float** target) {
  *target = nullptr;
  if (has(name)) vector(name, size, target);
}

Result<void> WeightLoader::load_vector(const Wanted& wanted, std::byte* arena) const {
  std::vector<std::byte> raw(wanted.tensor->size_bytes);
  if (auto r = file_.read(*wanted.tensor, 0, raw); !r) return r;
  auto* out = reinterpret_cast<float*>(arena + wanted.offset_bytes);
  decode(wanted.tensor->type, raw.data(), wanted.tensor->elements(), out);
  return {};
}

Result<void> WeightLoader::load_tiles(const Wanted& wanted, int64_t first_tile, int64_t tiles, std::byte* arena) const {
  const kernels::MatrixLayout& layout = wanted.matrix->layout;
  int64_t row_bytes = int64_t(wanted.tensor->size_bytes / wanted.tensor->rows());
  const int64_t first_row = first_tile * kernels::kTileRows, rows = std::min(tiles * kernels::kTileRows, layout.rows - first_row);
  thread_local std::vector<std::byte> raw, narrow;
  raw.resize(size_t(rows * row_bytes));
  if (auto r = file_.read(*wanted.tensor, uint64_t(first_row * row_bytes), raw); !r) return r;
  const bool again = layout.type != wanted.tensor->type;
  if (again) encode_again(wanted.tensor->type, raw, layout.columns, layout.type, narrow), row_bytes = int64_t(narrow.size()) / rows;
  const std::byte* packable = again ? narrow.data() : raw.data();
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t row = t * kernels::kTileRows;
    kernels::pack_tile(layout, packable + row * row_bytes, row_bytes, int(std::min<int64_t>(kernels::kTileRows, rows - row)),
                       arena + int64_t(wanted.offset_bytes) + (first_tile + t) * layout.tile_bytes());
  }
  return {};
}

std::vector<kernels::Matrix*> WeightLoader::matrices() const {
  std::vector<kernels::Matrix*> all;
  for (const Wanted& w : wanted_)
    if (w.matrix) all.push_back(w.matrix);
  return all;
}

Result<Memory> WeightLoader::load(ThreadPool& pool, const std::function<void(size_t, size_t)>& progress) {
  if (error_) return *error_;
  auto memory = Memory::reserve(bytes_, "the weights of the model");
  if (!memory) return memory.error();
  std::byte* arena = memory->data();
  const bool short_of_memory = available_memory_bytes() < bytes_ + file_.size_bytes();
  const auto place_in_file = [](const Wanted& w) { return std::pair(w.tensor->shard, w.tensor->offset_bytes); };
  std::sort(wanted_.begin(), wanted_.end(), [&](const Wanted& a, const Wanted& b) { return place_in_file(a) < place_in_file(b); });  // disks like it
  std::vector<Slice> slices;
  std::vector<std::atomic<int64_t>> slices_left(wanted_.size());
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const Wanted& w = wanted_[i];
    const int64_t tiles = w.matrix ? w.matrix->layout.tiles() : 0;
    const int64_t step = w.matrix ? std::max<int64_t>(1, kSliceBytes / w.matrix->layout.tile_bytes()) : 1;
    for (int64_t t = 0; t == 0 || t < tiles; t += step) slices.push_back({i, t, std::min(step, tiles - t)}), ++slices_left[i];
  }
  std::mutex mutex;
  std::optional<Error> failed;
  std::atomic<size_t> done{0};
  pool.run(int64_t(slices.size()), [&](int64_t i) {
    const Slice& s = slices[size_t(i)];
    const Wanted& w = wanted_[s.wanted];
    const auto result = w.matrix ? load_tiles(w, s.first_tile, s.tiles, arena) : load_vector(w, arena);
    if (!result) {
      std::lock_guard lock(mutex);
      if (!failed) failed = result.error();
    }
    if (--slices_left[s.wanted] == 0 && short_of_memory) file_.forget(*w.tensor);
    const size_t bytes = w.matrix ? size_t(s.tiles * w.matrix->layout.tile_bytes()) : w.tensor->elements() * sizeof(float);
    const size_t total = done.fetch_add(bytes) + bytes;
    if (progress) progress(total, bytes_);
  });
  if (failed) return *failed;
  for (const Wanted& w : wanted_) {
    if (w.matrix) w.matrix->data = arena + w.offset_bytes;
    else *w.vector = reinterpret_cast<const float*>(arena + w.offset_bytes);
  }
  return std::move(*memory);
}

}  // namespace outrider
