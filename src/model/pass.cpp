#include "model/pass.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace outrider {

using kernels::Activations;

namespace {

int64_t padded(int64_t n) { return (n + 15) / 16 * 16; }

int64_t widest(const Config& c) { return std::max<int64_t>(c.width, c.query_width()); }

// Calls fn(&pointer, floats) for every buffer, in one order.
template <class P, class Fn>
void for_each_buffer(P& p, const Config& c, int rows, int logits, Fn&& fn) {
  fn(&p.stream, rows * padded(c.width)), fn(&p.normed, rows * widest(c));
  fn(&p.query, rows * padded(c.query_width())), fn(&p.key, rows * padded(c.kv_width())), fn(&p.value, rows * padded(c.kv_width()));
  fn(&p.mixed, rows * padded(c.query_width())), fn(&p.gate, rows * padded(c.feed_forward)), fn(&p.up, rows * padded(c.feed_forward));
  const int64_t angles = int64_t(rows) * c.rope.pairs * (c.local_rope ? 2 : 1);  // those of local_rope behind the others
  fn(&p.cosines, angles), fn(&p.sines, angles);
  fn(&p.logits, logits * padded(c.vocabulary)), fn(&p.panels, Activations::words(rows, widest(c))), fn(&p.gated_panels, Activations::words(rows, c.feed_forward));
  fn(&p.span_states, (1 + Pass::kSpansAtOnce) * std::min(rows, Pass::kSplitRows) * c.heads * kernels::span_state_floats(c.head_dim));
}

struct Buffers {
  float *stream, *normed, *query, *key, *value, *mixed, *gate, *up, *cosines, *sines, *logits, *panels, *gated_panels, *span_states;
};

size_t rounded(int64_t floats) { return (size_t(floats) * 4 + 63) / 64 * 64; }

}  // namespace

size_t Pass::bytes(const Config& config, int max_rows, int max_logits) {
  size_t total = 0;
  Buffers b{};
  for_each_buffer(b, config, max_rows, max_logits, [&](float**, int64_t floats) { total += rounded(floats); });
  return total;
}

Result<Pass> Pass::make(const Config& config, const kernels::Kernels& kernels, ThreadPool& pool, int max_rows, int max_logits) {
  Pass pass;
  pass.config_ = &config, pass.kernels_ = &kernels, pass.pool_ = &pool;
  pass.max_rows_ = max_rows, pass.max_logits_ = max_logits;
  auto memory = Memory::reserve(bytes(config, max_rows, max_logits), "the working buffers");
  if (!memory) return memory.error();
  pass.memory_ = std::move(*memory);
  std::byte* at = pass.memory_.data();
  Buffers b{};
  for_each_buffer(b, config, max_rows, max_logits, [&](float** buffer, int64_t floats) { *buffer = reinterpret_cast<float*>(at), at += rounded(floats); });
  pass.stream_ = b.stream, pass.normed_ = b.normed, pass.query_ = b.query, pass.key_ = b.key, pass.value_ = b.value, pass.mixed_ = b.mixed;
  pass.gate_ = b.gate, pass.up_ = b.up, pass.cosines_ = b.cosines, pass.sines_ = b.sines, pass.logits_ = b.logits;
  pass.panels_ = reinterpret_cast<int32_t*>(b.panels), pass.gated_panels_ = reinterpret_cast<int32_t*>(b.gated_panels), pass.span_states_ = b.span_states;
  pass.rows_.reserve(size_t(max_rows)), pass.segments_.reserve(size_t(max_rows)), pass.logit_rows_.reserve(size_t(max_logits));
  pass.head_tiles_.reserve(size_t(padded(config.vocabulary) / kernels::kTileRows));
  return pass;
}

void Pass::clear() { rows_.clear(), logit_rows_.clear(), segments_.clear(), lowest_ = INT64_MAX, highest_ = 0; }

void Pass::add_row(const Row& row, bool logits) {
  OUTRIDER_CHECK(rows() < max_rows_ && (!logits || logit_rows() < max_logits_));
  config_->rope.angles(row.position, cosines_ + angles_at(false, rows()), sines_ + angles_at(false, rows()));
  if (config_->local_rope) config_->local_rope->angles(row.position, cosines_ + angles_at(true, rows()), sines_ + angles_at(true, rows()));
  if (logits) logit_rows_.push_back(rows());
  const int most = std::min(kSegmentRows, kernels::kMaxQueries / config_->group());
  if (rows_.empty() || rows_.back().timeline != row.timeline || segments_.back().count == most) segments_.push_back({rows(), 0});
  ++segments_.back().count;
  rows_.push_back(row);
  lowest_ = std::min(lowest_, row.position), highest_ = std::max(highest_, row.position);
}

void Pass::extend(const Timeline& t, std::span<const int32_t> tokens, int logits) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const int64_t p = t.length() + int64_t(i);
    add_row({&t, tokens[i], p, p + 1, t.page(p), int(p % kernels::kKvBlock), nullptr}, i + size_t(logits) >= tokens.size());
  }
  done(PassPart::embed_rope_store);
}

void Pass::window(const Timeline& t, int first) {
  for (int i = first; i < t.rows(); ++i) add_row({&t, t.row(i).token, t.position(i), t.length(), t.window_page(), i, t.row(i).path.data()}, true);
  done(PassPart::embed_rope_store);
}

void Pass::embed(const kernels::Matrix& table, float scale) {
  pool_->run(rows(), [&](int64_t r) {
    const int64_t token = rows_[size_t(r)].token;
    OUTRIDER_CHECK(token >= 0 && token < table.layout.rows);
    float* x = stream_ + r * config_->width;
    kernels::unpack_row(table, token, x);
    for (int64_t i = 0; scale != 1 && i < config_->width; ++i) x[i] *= scale;
  });
  done(PassPart::embed_rope_store);
}

Activations Pass::activations(int columns, int64_t n) {
  return {.columns = columns, .k = (n + 31) / 32 * 32, .panels = panels_, .values = nullptr, .value_stride = n};
}

// Each item is a stretch of k of every row: neighbouring blocks, so that no two threads write to one cache line.
template <class Fn>
void Pass::for_each_stretch(int64_t n, Fn&& fn) {
  const int64_t blocks = n / 32, items = std::min<int64_t>(blocks, 2 * pool_->size());
  pool_->run(items, [&](int64_t item) {
    const int64_t first = blocks * item / items, count = blocks * (item + 1) / items - first;
    fn(first, count);
  });
  done(PassPart::quantise_norm);
}

// Every item sums a row's squares for itself: that takes less time than waiting for another thread to do it.
Activations Pass::norm(const float* x, const float* weight) {
  const int64_t n = config_->width;
  Activations a = activations(rows(), n);
  a.values = normed_;
  for_each_stretch(n, [&](int64_t first, int64_t blocks) {
    for (int r = 0; r < rows(); ++r) {
      const float* row = x + r * n;
      float* out = normed_ + r * n + 32 * first;
      kernels_->scale_multiply(row + 32 * first, kernels_->rms_scale(row, n, config_->rms_epsilon), weight + 32 * first, 32 * blocks, out);
      kernels_->quantise(out, blocks, a, r, first);
    }
  });
  return a;
}

Activations Pass::quantised(const float* x, int64_t n) {
  Activations a = activations(rows(), n);
  a.values = x;
  for_each_stretch(n, [&](int64_t first, int64_t blocks) {
    for (int r = 0; r < rows(); ++r) kernels_->quantise(x + r * n + 32 * first, blocks, a, r, first);
  });
  return a;
}

// Each item takes the same rows of both matrices, so that what they give is gated and quantised while it is near.
Activations Pass::gated(const Activations& n, const kernels::Matrix& gate, const kernels::Matrix& up, Gate kind) {
  const auto gate_multiply = kind == Gate::silu ? kernels_->silu_multiply : kernels_->gelu_multiply;
  const int64_t width = config_->feed_forward, blocks = width / 32;
  const int64_t step = std::max<int64_t>(1, kItemBytes / (2 * (gate.layout.tile_bytes() + up.layout.tile_bytes())));
  Activations a{.columns = rows(), .k = width, .panels = gated_panels_, .values = gate_, .value_stride = width};
  if (n.columns == 0) return a;
  pool_->run((blocks + step - 1) / step, [&](int64_t item) {
    const int64_t first = item * step, count = std::min(step, blocks - first);
    kernels_->multiply(gate, n, 2 * first, 2 * (first + count), {.values = gate_, .stride = width});
    kernels_->multiply(up, n, 2 * first, 2 * (first + count), {.values = up_, .stride = width});
    for (int r = 0; r < rows(); ++r) {
      const int64_t at = r * width + 32 * first;
      gate_multiply(gate_ + at, up_ + at, 32 * count, gate_ + at);
      kernels_->quantise(gate_ + at, count, a, r, first);
    }
  });
  done(PassPart::gate_up);
  for (const kernels::Matrix* w : {&gate, &up}) count_multiply(PassPart::gate_up, *w, w->layout.tiles(), n);
  return a;
}

// A product is known by the buffers it reads and writes.
PassPart Pass::part_of(const Activations& n, const Product& product) const {
  if (product.out == query_) return PassPart::attention_qkv;
  return n.values == mixed_ ? PassPart::attention_output : PassPart::down;
}

void Pass::count_multiply(PassPart part, const kernels::Matrix& w, int64_t tiles, const Activations& n) {
  if (clock_) clock_->multiplied(part, tiles * w.layout.tile_bytes(), std::min(tiles * kernels::kTileRows, w.layout.rows) * w.layout.columns * n.columns);
}

void Pass::multiply_rows(PassPart part, const Activations& n, std::span<const Product> products, const int64_t* strides) {
  if (n.columns == 0) return;
  int64_t items = 0;
  for (const Product& p : products) items += (p.weight->layout.tiles() + tiles_of_item(*p.weight) - 1) / tiles_of_item(*p.weight);
  pool_->run(items, [&](int64_t item) {
    for (size_t i = 0; i < products.size(); ++i) {
      const Product& p = products[i];
      const int64_t tiles = p.weight->layout.tiles(), size = tiles_of_item(*p.weight), count = (tiles + size - 1) / size;
      if (item >= count) {
        item -= count;
        continue;
      }
      kernels_->multiply(*p.weight, n, item * size, std::min(tiles, (item + 1) * size), {.values = p.out, .stride = strides[i], .bias = p.bias, .add = p.add});
      return;
    }
  });
  done(part);
  for (const Product& p : products) count_multiply(part, *p.weight, p.weight->layout.tiles(), n);
}

void Pass::multiply(const Activations& n, std::initializer_list<Product> products) {
  int64_t strides[8];
  OUTRIDER_CHECK(products.size() <= 8);
  size_t i = 0;
  for (const Product& p : products) strides[i++] = p.weight->layout.rows;
  multiply_rows(part_of(n, *products.begin()), n, {products.begin(), products.size()}, strides);
}

void Pass::add_normed(float* branch, const float* weight) {
  const int64_t n = config_->width;
  pool_->run(rows(), [&](int64_t r) {
    float *x = stream_ + r * n, *y = branch + r * n;
    kernels_->scale_multiply(y, kernels_->rms_scale(y, n, config_->rms_epsilon), weight, n, y);
    for (int64_t i = 0; i < n; ++i) x[i] += y[i];
  });
  done(PassPart::quantise_norm);
}

void Pass::norm_heads(float* x, int heads, const float* weight) {
  const int64_t dim = config_->head_dim;
  pool_->run(rows(), [&](int64_t r) {
    for (int h = 0; h < heads; ++h) {
      float* head = x + (r * heads + h) * dim;
      kernels_->scale_multiply(head, kernels_->rms_scale(head, dim, config_->rms_epsilon), weight, dim, head);
    }
  });
  done(PassPart::quantise_norm);
}

}  // namespace outrider
