#pragma once
// The truth: every kernel as plain loops, slow and readable. The vector kernels must give these bits.
#include "kernels/kernels.h"

namespace outrider::kernels::scalar {

void multiply(const Matrix& w, const Activations& a, int64_t tile_begin, int64_t tile_end, const MatrixOutput& out);
void quantise(const float* x, int64_t blocks, const Activations& a, int column, int64_t first_block);
float rms_scale(const float* x, int64_t n, float epsilon);
void scale_multiply(const float* x, float scale, const float* weight, int64_t n, float* out);
void silu_multiply(const float* gate, const float* up, int64_t n, float* out);
void gelu_multiply(const float* gate, const float* up, int64_t n, float* out);
void rotate(float* x, const float* cosines, const float* sines, int half, bool interleaved);
void store_kv(const KvShape& shape, const float* k, const float* v, std::byte* k_block, std::byte* v_block, int slot);
void attend(const AttendJob& job);
void attend_spans(const AttendJob& job, int64_t first, int64_t count, float* states, int64_t stride);
void add_span(int head_dim, const float* state, float* total);
void finish_attend(int head_dim, const float* total, float* out);
float row_max(const float* x, int64_t n);
float block_max(const float* x, int64_t n, float* maxima);
float sum_exp(const float* x, int64_t n, float max);
void exp_below(const float* x, int64_t n, float max, float* out);
int64_t argmax(const float* x, int64_t n);
int64_t gather(const float* x, int64_t n, const float* maxima, float above, float up_to, int32_t* out);
int64_t loud(const PositionNoise& noise, int32_t first, int64_t n, uint64_t least, int32_t* out);
uint32_t probe_read(const std::byte* data, int64_t bytes);
uint32_t probe_dots(const std::byte* codes, const int32_t* a, int64_t rounds);

// Folds 16 lanes: l += l+8, l += l+4, l += l+2, l += l+1.
float fold(float (&lanes)[16]);

}  // namespace outrider::kernels::scalar
