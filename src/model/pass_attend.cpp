// The part of a pass that knows timelines: keys and values go to their places, and rows attend to their past.
#include <algorithm>

#include "model/pass.h"

namespace outrider {

// Each item rotates one kv head's queries and key of a row, and stores the key and the value.
void Pass::place(int layer, float* query, float* key, const float* value) {
  const Rope& rope = config_->rope;
  const bool local = config_->local_rope && config_->horizon(layer);
  const int64_t dim = config_->head_dim, heads = config_->kv_heads, group = config_->group();
  pool_->run(rows() * heads, [&](int64_t item) {
    const int64_t r = item / heads, h = item % heads;
    const auto rotate = [&](float* x) { kernels_->rotate(x, cosines_ + angles_at(local, r), sines_ + angles_at(local, r), rope.pairs, rope.interleaved); };
    for (int64_t q = 0; q < group; ++q) rotate(query + (item * group + q) * dim);
    rotate(key + item * dim);
    const Row& row = rows_[size_t(r)];
    const PagePool& pages = row.timeline->pool();
    kernels_->store_kv(pages.geometry().shape, key + item * dim, value + item * dim, pages.k_block(row.page, layer, int(h)), pages.v_block(row.page, layer, int(h)), row.slot);
  });
  done(PassPart::embed_rope_store);
}

// The segment's rows over one kv head; `rows` is what the job points to.
kernels::AttendJob Pass::attend_job(const Segment& segment, int layer, int head, const float* query, float* out, kernels::AttendRow* rows) const {
  for (int r = 0; r < segment.count; ++r) {
    const Row& row = rows_[size_t(segment.first + r)];
    const int64_t at = (int64_t(segment.first + r) * config_->heads + head * config_->group()) * config_->head_dim;
    rows[r] = {.query = query + at, .out = out + at, .position = row.position, .committed = row.committed, .path = row.path};
  }
  const Timeline& timeline = *rows_[size_t(segment.first)].timeline;
  const PagePool& pages = timeline.pool();
  return {.shape = &pages.geometry().shape,
          .heads = config_->group(),
          .scale = config_->attention_scale,
          .horizon = config_->horizon(layer),
          .rows = rows,
          .row_count = segment.count,
          .pages = timeline.pages().data(),
          .k_base = pages.k_block(0, layer, head),
          .v_base = pages.v_block(0, layer, head),
          .page_stride = pages.geometry().page_bytes(),
          .window_k = pages.k_block(timeline.window_page(), layer, head),
          .window_v = pages.v_block(timeline.window_page(), layer, head)};
}

// Nothing looks at the last layer's rows but the head, so there the others end.
void Pass::attend(int layer, const float* query, float* out) {
  attend_rows(layer, query, out);
  if (layer + 1 == config_->layers) keep_wanted(out);
}

// One item: rows of a timeline and one kv head. Few rows with a long past are cut along that past instead, so that every thread has
// work; how it is cut does not change the bits.
void Pass::attend_rows(int layer, const float* query, float* out) {
  const int64_t heads = config_->kv_heads, items = int64_t(segments_.size()) * heads;
  const int horizon = config_->horizon(layer);
  const kernels::SpanRange spans{kernels::spans_of(lowest_, horizon).first, kernels::spans_of(highest_, horizon).end};
  if (spans.end - spans.first > 1 && rows() <= kSplitRows && pool_->size() > 1 && items < 4 * pool_->size()) return attend_in_spans(layer, query, out, spans);
  pool_->run(items, [&](int64_t item) {
    const Segment& segment = segments_[size_t(item / heads)];
    kernels::AttendRow rows[kSegmentRows];
    kernels_->attend(attend_job(segment, layer, int(item % heads), query, out, rows));
  });
  done(PassPart::attention);
}

// span_states_[slot][row][head][state]: slot 0 holds the spans so far, the others those of this turn. An item is a run of neighbouring
// spans, so that its queries are prepared once for all of them.
void Pass::attend_in_spans(int layer, const float* query, float* out, kernels::SpanRange spans) {
  const int dim = config_->head_dim;
  const int64_t heads = config_->kv_heads, group = config_->group(), state = kernels::span_state_floats(dim), slot_floats = rows() * config_->heads * state;
  const int64_t jobs = int64_t(segments_.size()) * heads;
  // Per kv head the segment's queries lie together; rows × heads of one slot are a permutation of the pass's.
  const auto states = [&](const Segment& segment, int64_t head) { return span_states_ + (segment.first * config_->heads + head * segment.count * group) * state; };
  for (int64_t before = spans.first; before < spans.end; before += kSpansAtOnce) {
    const int64_t count = std::min<int64_t>(spans.end - before, kSpansAtOnce);
    const int64_t run = std::max<int64_t>(1, count * jobs / (kRunsPerThread * pool_->size())), runs = (count + run - 1) / run;
    pool_->run(jobs * runs, [&](int64_t item) {
      const int64_t first = item % runs * run, head = item / runs % heads;
      const Segment& segment = segments_[size_t(item / runs / heads)];
      kernels::AttendRow rows[kSegmentRows];
      const kernels::AttendJob job = attend_job(segment, layer, int(head), query, out, rows);
      kernels_->attend_spans(job, before + first, std::min(run, count - first), states(segment, head) + (1 + first) * slot_floats, slot_floats);
    });
    const bool last = before + count == spans.end;
    pool_->run(jobs, [&](int64_t item) {
      const int64_t head = item % heads;
      const Segment& segment = segments_[size_t(item / heads)];
      for (int64_t q = 0; q < segment.count * group; ++q) {
        const int64_t row = segment.first + q / group;
        const kernels::SpanRange seen = kernels::spans_of(rows_[size_t(row)].position, config_->horizon(layer));
        float* total = states(segment, head) + q * state;
        for (int64_t s = std::max(before, seen.first); s < std::min(before + count, seen.end); ++s) {
          const float* part = total + (1 + s - before) * slot_floats;
          if (s == seen.first) std::copy_n(part, state, total);
          else kernels_->add_span(dim, part, total);
        }
        if (last) kernels_->finish_attend(dim, total, out + (row * config_->heads + head * group + q % group) * dim);
      }
    });
  }
  done(PassPart::attention);
}

}  // namespace outrider
