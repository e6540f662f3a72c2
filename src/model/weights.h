#pragma once
// Loading of weights. A family first declares the tensors it wants and where they go; the sizes add up to the plan; then one arena
// of exactly that size is reserved and filled, repacked slice by slice while reading, so that never two copies are in memory.
//
// What was read stays in the system's cache, which gives it up when somebody needs the memory: a second start then reads no disk. Only
// when weights and file do not fit side by side is a tensor dropped from the cache once it is repacked, before it pushes out what others use.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "base/threads.h"
#include "gguf/file.h"
#include "kernels/matrix.h"

namespace outrider {

struct LoadOptions {
  // Matrices of more than four bits a weight are encoded again to this type of four (quant/encode_fast.h), where their rows fill its
  // blocks: a pass reads less, and is a little wrong. For models whose answers need not be exact.
  std::optional<QuantType> narrow = {};

  // A 0.5B of Q5_0 and Q8_0, a pass of one row and the share of a 1.5B's greedy tokens that it foretells (1544 tokens, ten tasks): as it
  // is 8.9 ms, 86.5 %; Q4_1 7.2 ms, 85.0 %; Q4_0 6.1 ms, 84.6 %; IQ4_NL 6.1 ms, 85.7 %.
  static constexpr QuantType kBestFourBits = QuantType::iq4_nl;
};

class WeightLoader {
 public:
  explicit WeightLoader(const GgufFile& file, const LoadOptions& options = {}) : file_(file), options_(options) {}

  // Targets must live until load(). Shapes are rows (outputs) × columns (inputs).
  void matrix(const std::string& name, int64_t rows, int64_t columns, kernels::Matrix* target) { matrix(name, rows, columns, target, options_.narrow); }
  void table(const std::string& name, int64_t rows, int64_t columns, kernels::Matrix* target) { matrix(name, rows, columns, target, {}); }  // looked up, not multiplied
  void vector(const std::string& name, int64_t size, const float** target);           // decoded to float
  void optional_vector(const std::string& name, int64_t size, const float** target);  // stays null when absent
  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }

  // The first thing found wrong while declaring.
  const std::optional<Error>& error() const { return error_; }
  size_t bytes() const { return bytes_; }
  std::vector<kernels::Matrix*> matrices() const;  // the targets of all that were declared
  // progress(done, total) in bytes, called from any thread; may be empty.
  Result<Memory> load(ThreadPool& pool, const std::function<void(size_t, size_t)>& progress);

 private:
  struct Wanted {
    const TensorInfo* tensor;
    kernels::Matrix* matrix;  // or
    const float** vector;
    size_t offset_bytes;
  };
  const TensorInfo* expect(const std::string& name, int64_t rows, int64_t columns);
  void fail(Error error);
  size_t place(size_t bytes);
  void matrix(const std::string& name, int64_t rows, int64_t columns, kernels::Matrix* target, std::optional<QuantType> narrow);
  Result<void> load_vector(const Wanted& wanted, std::byte* arena) const;
  Result<void> load_tiles(const Wanted& wanted, int64_t first_tile, int64_t tiles, std::byte* arena) const;

  const GgufFile& file_;
  LoadOptions options_;
  std::vector<Wanted> wanted_;
  std::optional<Error> error_;
  size_t bytes_ = 0;
};

}  // namespace outrider
