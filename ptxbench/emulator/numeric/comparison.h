// SPDX-License-Identifier: Apache-2.0

// Comparing 32 lanes into a mask. The relations are functors that work on numbers and on the
// compiler's vectors alike, so that a comparison of all lanes is a few vector compares and a gather
// of their sign bits.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace weft::emulator::numeric {

struct Equal {
  template <typename V>
  auto operator()(V a, V b) const {
    return a == b;
  }
};
struct Less {
  template <typename V>
  auto operator()(V a, V b) const {
    return a < b;
  }
};
struct LessEqual {
  template <typename V>
  auto operator()(V a, V b) const {
    return a <= b;
  }
};
struct Greater {
  template <typename V>
  auto operator()(V a, V b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename V>
  auto operator()(V a, V b) const {
    return a >= b;
  }
};
// Both operands are numbers.
struct Ordered {
  template <typename V>
  auto operator()(V a, V b) const {
    return (a == a) & (b == b);
  }
};
// Ordered and different (`ne` of floats; for integers the first part is always true).
struct OrderedNotEqual {
  template <typename V>
  auto operator()(V a, V b) const {
    return (a < b) | (a > b);
  }
};
// The negation: the unordered forms are negated ordered ones (`ltu` is "not ge").
template <typename Relation>
struct Not {
  template <typename V>
  auto operator()(V a, V b) const {
    return Relation{}(a, b) == 0;
  }
};

#if defined(__AVX2__)
template <typename T>
struct Vector {
  typedef T type __attribute__((vector_size(32)));
};

template <typename Relation, typename T>
inline __m256i compare_vector(const T* a, const T* b) {
  typename Vector<T>::type va, vb;
  std::memcpy(&va, a, sizeof va);
  std::memcpy(&vb, b, sizeof vb);
  return reinterpret_cast<__m256i>(Relation{}(va, vb));
}
#endif

template <typename Relation, typename T>
inline uint32_t compare_lanes(const T* a, const T* b) {
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    uint32_t mask = 0;
    for (int k = 0; k < 4; ++k)
      mask |= static_cast<uint32_t>(_mm256_movemask_ps(
                  _mm256_castsi256_ps(compare_vector<Relation>(a + 8 * k, b + 8 * k))))
              << (8 * k);
    return mask;
  } else if constexpr (sizeof(T) == 8) {
    uint32_t mask = 0;
    for (int k = 0; k < 8; ++k)
      mask |= static_cast<uint32_t>(_mm256_movemask_pd(
                  _mm256_castsi256_pd(compare_vector<Relation>(a + 4 * k, b + 4 * k))))
              << (4 * k);
    return mask;
  } else if constexpr (sizeof(T) == 2) {
    // Packing works within 128-bit halves; the permutation puts the quarters in lane order.
    const __m256i packed = _mm256_packs_epi16(compare_vector<Relation>(a, b),
                                              compare_vector<Relation>(a + 16, b + 16));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xd8)));
  }
#endif
  uint32_t mask = 0;
  for (int i = 0; i < 32; ++i)
    mask |= static_cast<uint32_t>(static_cast<bool>(Relation{}(a[i], b[i]))) << i;
  return mask;
}

}  // namespace weft::emulator::numeric
