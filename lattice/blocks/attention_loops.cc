// SPDX-License-Identifier: Apache-2.0

// Of each head: keys and values also lie transposed, [head_width, padded length], so that a row of
// scores is a sum of rows and the compiler vectorises it over keys.
#include "lattice/blocks/attention_loops.h"

#include <algorithm>
#include <cmath>

#include "lattice/blocks/swish.h"

namespace weft::lattice {
namespace {

constexpr int64_t kLanes = 8;
// Queries whose shares of the keys' and values' derivatives are added at once.
constexpr int64_t kTogether = 4;

int64_t padded(int64_t length) {
  return (length + kLanes - 1) / kLanes * kLanes;
}

// One head of one history: pointers into the scratch.
struct Head {
  int64_t length, wide, width;  // tokens, tokens padded, head width
  float *q, *k, *v;             // [length, width], q and k normed and rotated, q scaled
  float *kt, *vt;               // [width, wide], zero in the padding
  float *scale_q, *scale_k;     // [length], 1 / root mean square of each
  float *p, *dp;                // [kTogether, wide], rows of weights and of their derivatives
  float *dq, *dk, *dv;          // [length, width]

  Head(int64_t tokens, int64_t head_width, AttentionScratch& scratch)
      : length(tokens), wide(padded(tokens)), width(head_width) {
    const int64_t matrix = padded(length * width), transposed = wide * width;
    const auto need = static_cast<size_t>(6 * matrix + 2 * transposed + (2 + 2 * kTogether) * wide);
    if (scratch.memory.size() < need) scratch.memory.resize(need);
    float* next = scratch.memory.data();
    for (float** part : {&q, &k, &v, &dq, &dk, &dv}) {
      *part = next;
      next += matrix;
    }
    for (float** part : {&kt, &vt}) {
      *part = next;
      next += transposed;
    }
    for (float** part : {&scale_q, &scale_k}) {
      *part = next;
      next += wide;
    }
    for (float** part : {&p, &dp}) {
      *part = next;
      next += kTogether * wide;
    }
  }
};

// to = RoPE(gain * x / rms(x)) * factor; the pair of i is i + width / 2.
float norm_and_rotate(const AttentionShape& shape, int64_t position, const float* __restrict x,
                      const float* __restrict gain, float factor, float* __restrict to) {
  const int64_t width = shape.head_width, half = width / 2;
  float sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += x[i] * x[i];
  const float scale = 1.0f / std::sqrt(sum / static_cast<float>(width) + shape.epsilon);
  const float *c = shape.cosine + position * half, *s = shape.sine + position * half;
  for (int64_t i = 0; i < half; ++i) {
    const float a = x[i] * scale * gain[i] * factor;
    const float b = x[i + half] * scale * gain[i + half] * factor;
    to[i] = a * c[i] - b * s[i];
    to[i + half] = a * s[i] + b * c[i];
  }
  return scale;
}

// The way back of the same: d is the derivative of `to`.
void unrotate_and_unnorm(const AttentionShape& shape, int64_t position, const float* __restrict x,
                         const float* __restrict gain, float factor, float scale,
                         float* __restrict d, float* __restrict dx, float* __restrict dgain) {
  const int64_t width = shape.head_width, half = width / 2;
  const float *c = shape.cosine + position * half, *s = shape.sine + position * half;
  for (int64_t i = 0; i < half; ++i) {
    const float a = d[i], b = d[i + half];
    d[i] = (a * c[i] + b * s[i]) * factor;
    d[i + half] = (b * c[i] - a * s[i]) * factor;
  }
  float along = 0;
  for (int64_t i = 0; i < width; ++i) {
    dgain[i] += d[i] * x[i] * scale;
    d[i] *= gain[i];
    along += d[i] * x[i];
  }
  const float pull = along * scale * scale * scale / static_cast<float>(width);
  for (int64_t i = 0; i < width; ++i) dx[i] = d[i] * scale - x[i] * pull;
}

void load(const AttentionShape& shape, int64_t h, const float* qkv, Head& head) {
  const int64_t width = head.width, all = shape.width();
  const float factor = 1.0f / std::sqrt(static_cast<float>(width));
  for (int64_t t = 0; t < head.length; ++t) {
    const float* token = qkv + t * 3 * all + h * width;
    head.scale_q[t] =
        norm_and_rotate(shape, t, token, shape.gain_q + h * width, factor, head.q + t * width);
    head.scale_k[t] =
        norm_and_rotate(shape, t, token + all, shape.gain_k + h * width, 1, head.k + t * width);
    std::copy_n(token + 2 * all, width, head.v + t * width);
  }
  for (int64_t i = 0; i < width; ++i) {
    float *k = head.kt + i * head.wide, *v = head.vt + i * head.wide;
    for (int64_t t = 0; t < head.length; ++t) {
      k[t] = head.k[t * width + i];
      v[t] = head.v[t * width + i];
    }
    std::fill(k + head.length, k + head.wide, 0.0f);
    std::fill(v + head.length, v + head.wide, 0.0f);
  }
}

// to[j] = sum over i of row[i] * columns[i][j], four rows of columns at a time.
void combine(int64_t count, int64_t wide, const float* __restrict row,
             const float* __restrict columns, float* __restrict to) {
  std::fill(to, to + wide, 0.0f);
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const float a = row[i], b = row[i + 1], c = row[i + 2], d = row[i + 3];
    const float *x = columns + i * wide, *y = x + wide, *z = y + wide, *w = z + wide;
    for (int64_t j = 0; j < wide; ++j) to[j] += (a * x[j] + b * y[j]) + (c * z[j] + d * w[j]);
  }
  for (; i < count; ++i)
    for (int64_t j = 0; j < wide; ++j) to[j] += row[i] * columns[i * wide + j];
}

// rows[i] += the sum over u < together of share[u][i] * addend[u], for all i.
struct Spread {
  int64_t together, count, width;
  const float* share;
  int64_t share_stride;
  const float* addend;
  int64_t addend_stride;
};
void spread(const Spread& s, float* __restrict rows) {
  if (s.together == kTogether) {
    const float* __restrict a = s.share, *b = a + s.share_stride, *c = b + s.share_stride,
                            *d = c + s.share_stride;
    const float* __restrict x = s.addend, *y = x + s.addend_stride, *z = y + s.addend_stride,
                            *w = z + s.addend_stride;
    for (int64_t i = 0; i < s.count; ++i)
      for (int64_t j = 0; j < s.width; ++j)
        rows[i * s.width + j] += (a[i] * x[j] + b[i] * y[j]) + (c[i] * z[j] + d[i] * w[j]);
    return;
  }
  for (int64_t u = 0; u < s.together; ++u)
    for (int64_t i = 0; i < s.count; ++i)
      for (int64_t j = 0; j < s.width; ++j)
        rows[i * s.width + j] +=
            s.share[u * s.share_stride + i] * s.addend[u * s.addend_stride + j];
}

// p = softmax of the scores of query t; the padding is zero.
void weights(const Head& head, int64_t t, float* __restrict p) {
  combine(head.width, head.wide, head.q + t * head.width, head.kt, p);
  float most = p[0];
  for (int64_t j = 1; j < head.length; ++j) most = std::max(most, p[j]);
  for (int64_t j = 0; j < head.wide; ++j) p[j] = fast_exp(p[j] - most);
  std::fill(p + head.length, p + head.wide, 0.0f);
  float sum = 0;
  for (int64_t j = 0; j < head.length; ++j) sum += p[j];
  const float share = 1.0f / sum;
  for (int64_t j = 0; j < head.wide; ++j) p[j] *= share;
}

}  // namespace

void attention_forward(const AttentionShape& shape, int64_t length, const float* qkv, float* out,
                       AttentionScratch& scratch) {
  Head head(length, shape.head_width, scratch);
  for (int64_t h = 0; h < shape.heads; ++h) {
    load(shape, h, qkv, head);
    for (int64_t t = 0; t < length; ++t) {
      weights(head, t, head.p);
      combine(length, head.width, head.p, head.v, out + t * shape.width() + h * head.width);
    }
  }
}

void attention_backward(const AttentionShape& shape, int64_t length, const float* qkv,
                        const float* dout, float* dqkv, float* dgain_q, float* dgain_k,
                        AttentionScratch& scratch) {
  Head head(length, shape.head_width, scratch);
  const int64_t width = head.width, all = shape.width();
  const float factor = 1.0f / std::sqrt(static_cast<float>(width));
  for (int64_t h = 0; h < shape.heads; ++h) {
    load(shape, h, qkv, head);
    std::fill_n(head.dk, length * width, 0.0f);
    std::fill_n(head.dv, length * width, 0.0f);
    for (int64_t first = 0; first < length; first += kTogether) {
      const int64_t together = std::min(kTogether, length - first);
      for (int64_t u = 0; u < together; ++u) {
        const int64_t t = first + u;
        float *p = head.p + u * head.wide, *dp = head.dp + u * head.wide;
        weights(head, t, p);
        combine(width, head.wide, dout + t * all + h * width, head.vt, dp);
        float mean = 0;
        for (int64_t j = 0; j < length; ++j) mean += p[j] * dp[j];
        for (int64_t j = 0; j < head.wide; ++j) dp[j] = p[j] * (dp[j] - mean);
        combine(length, width, dp, head.k, head.dq + t * width);
      }
      Spread share{.together = together,
                   .count = length,
                   .width = width,
                   .share = head.p,
                   .share_stride = head.wide,
                   .addend = dout + first * all + h * width,
                   .addend_stride = all};
      spread(share, head.dv);
      share.share = head.dp;
      share.addend = head.q + first * width;
      share.addend_stride = width;
      spread(share, head.dk);
    }
    for (int64_t t = 0; t < length; ++t) {
      const float* token = qkv + t * 3 * all + h * width;
      float* to = dqkv + t * 3 * all + h * width;
      unrotate_and_unnorm(shape, t, token, shape.gain_q + h * width, factor, head.scale_q[t],
                          head.dq + t * width, to, dgain_q + h * width);
      unrotate_and_unnorm(shape, t, token + all, shape.gain_k + h * width, 1, head.scale_k[t],
                          head.dk + t * width, to + all, dgain_k + h * width);
      std::copy_n(head.dv + t * width, width, to + 2 * all);
    }
  }
}

}  // namespace weft::lattice
