#pragma once
// One forward pass: the rows that run through the network together, the buffers they use, and the shared blocks that model files
// are written with. Buffers are sized at construction; a pass allocates nothing.
//
// Rows may belong to several timelines. Every row is computed as if it were alone (law 1).
#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/threads.h"
#include "kernels/kernels.h"
#include "model/config.h"
#include "model/pass_clock.h"
#include "state/timeline.h"

namespace outrider {

enum class Gate { silu, gelu };

class Pass {
 public:
  static constexpr int kSegmentRows = 8;   // rows of a timeline that attend together
  static constexpr int kSplitRows = 8;     // up to this many rows the threads may share out a row's past
  static constexpr int kSpansAtOnce = 32;  // spans whose states the buffer holds beside the running total
  static constexpr int kRunsPerThread = 8;  // runs of spans that each thread gets where there are enough
  static constexpr int64_t kItemBytes = 48 << 10;  // weights of one item: small enough that threads finish together, large enough to stream

  // max_rows: rows in one forward; max_logits: rows of them that may want logits.
  static Result<Pass> make(const Config& config, const kernels::Kernels& kernels, ThreadPool& pool, int max_rows, int max_logits);
  static size_t bytes(const Config& config, int max_rows, int max_logits);
  // From now on notes the time of its parts; null: no longer. The clock must live that long.
  void watch(PassClock* clock) { clock_ = clock; }

  // Until the next call only these tiles (16 rows each, ascending, see kernels/matrix.h) of the output matrix are computed; the other
  // logits are −infinity. Empty: the whole matrix. Adding tiles costs nothing; taking some away overwrites their logits in every row.
  void restrict_head(std::span<const int32_t> tiles);

  // Building: clear, add rows, then Model::forward.
  void clear();
  // Known text straight into the pages; the timeline must have made room. The last `logits` rows want logits.
  void extend(const Timeline& timeline, std::span<const int32_t> tokens, int logits = 0);
  // Rows [first, timeline.rows()) of the window, all with logits.
  void window(const Timeline& timeline, int first = 0);

  int rows() const { return int(rows_.size()); }
  int logit_rows() const { return int(logit_rows_.size()); }
  // Row i of the logits, in the order the rows were added.
  std::span<const float> logits(int i) const { return {logits_ + int64_t(i) * config_->vocabulary, size_t(config_->vocabulary)}; }
  std::span<float> logits(int i) { return {logits_ + int64_t(i) * config_->vocabulary, size_t(config_->vocabulary)}; }  // to edit, until the next forward

  // ---- blocks for model files: x[rows][n] row by row -----------------------------------------------------------------------

  float* stream() { return stream_; }  // x, the residual stream
  float* query() { return query_; }
  float* key() { return key_; }
  float* value() { return value_; }
  float* mixed() { return mixed_; }  // attention's output
  float* branch() { return normed_; }  // what a layer adds, where it is normed first; holds norm's rows until then

  struct Product {  // out = W·n (+ bias), or out += W·n
    const kernels::Matrix* weight;
    const float* bias;
    float* out;
    bool add = false;
  };

  void embed(const kernels::Matrix& table, float scale = 1);             // x = scale · rows of the table
  kernels::Activations norm(const float* x, const float* weight);        // RMSNorm_w(x), ready to multiply
  kernels::Activations quantised(const float* x, int64_t n);             // x as it is
  kernels::Activations gated(const kernels::Activations& n, const kernels::Matrix& gate, const kernels::Matrix& up, Gate kind = Gate::silu);  // silu(gate·n) ⊙ up·n
  void multiply(const kernels::Activations& n, std::initializer_list<Product> products);
  void add_normed(float* branch, const float* weight);                   // x += RMSNorm_w(branch), which is overwritten
  void norm_heads(float* x, int heads, const float* weight);             // RMSNorm over each head
  void place(int layer, float* query, float* key, const float* value);   // RoPE at each row's position; key and value into its page or window slot
  void attend(int layer, const float* query, float* out);                // softmax(q·K/√d)·V over each row's past, as far as the layer's horizon; in the last layer only rows that want logits go on after it
  void project(const float* x, const float* norm_weight, const kernels::Matrix& output);  // logits of the rows that want them

 private:
  struct Row {
    const Timeline* timeline;
    int32_t token;
    int64_t position;
    int64_t committed;    // positions below are in pages
    int page, slot;       // where this row's key and value go
    const uint8_t* path;  // window rows of its past, or null
  };
  struct Segment {  // neighbouring rows of one timeline, whose queries share each load of a key
    int first, count;
  };
  Pass() = default;
  static int64_t tiles_of_item(const kernels::Matrix& w) { return std::max<int64_t>(1, kItemBytes / w.layout.tile_bytes()); }
  kernels::AttendJob attend_job(const Segment& segment, int layer, int head, const float* query, float* out, kernels::AttendRow* rows) const;
  void attend_rows(int layer, const float* query, float* out);
  void attend_in_spans(int layer, const float* query, float* out, kernels::SpanRange spans);
  void add_row(const Row& row, bool logits);
  int64_t angles_at(bool local, int64_t row) const { return ((local ? max_rows_ : 0) + row) * config_->rope.pairs; }
  kernels::Activations activations(int columns, int64_t n);
  void count_multiply(PassPart part, const kernels::Matrix& w, int64_t tiles, const kernels::Activations& n);
  template <class Fn>
  void for_each_stretch(int64_t n, Fn&& fn);
  PassPart part_of(const kernels::Activations& n, const Product& product) const;
  void multiply_rows(PassPart part, const kernels::Activations& n, std::span<const Product> products, const int64_t* strides);
  void multiply_tiles(const kernels::Activations& n, const kernels::Matrix& output);
  void silence(int32_t tile);
  void keep_wanted(float* mixed);
  void done(PassPart part) {
    if (clock_) clock_->done(part);
  }

  const Config* config_ = nullptr;
  const kernels::Kernels* kernels_ = nullptr;
  ThreadPool* pool_ = nullptr;
  PassClock* clock_ = nullptr;
  int max_rows_ = 0, max_logits_ = 0;
  std::vector<Row> rows_;
  std::vector<int> logit_rows_;
  std::vector<int32_t> head_tiles_;  // what restrict_head named
  std::vector<Segment> segments_;
  int64_t lowest_ = INT64_MAX, highest_ = 0;  // positions of the rows
  Memory memory_;
  float *stream_ = nullptr, *normed_ = nullptr, *query_ = nullptr, *key_ = nullptr, *value_ = nullptr, *mixed_ = nullptr, *gate_ = nullptr, *up_ = nullptr;
  float *cosines_ = nullptr, *sines_ = nullptr, *logits_ = nullptr, *span_states_ = nullptr;
  int32_t *panels_ = nullptr, *gated_panels_ = nullptr;
};

}  // namespace outrider
