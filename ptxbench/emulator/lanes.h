// SPDX-License-Identifier: Apache-2.0

// The lanes of a warp: a mask, and the only loops over lanes of value operations. A register is 32
// values side by side, so a loop over all lanes becomes a few vector instructions.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace weft::emulator {

inline constexpr int kLanes = 32;
using LaneMask = uint32_t;
inline constexpr LaneMask kAllLanes = 0xffffffffu;

inline int first_lane(LaneMask mask) {
  return std::countr_zero(mask);
}
inline int count_lanes(LaneMask mask) {
  return std::popcount(mask);
}

// Calls `f(lane)` for each lane in the mask, lowest first.
template <typename F>
inline void for_lanes(LaneMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

// Bit i at place i, as wide as the values it selects: testing a mask against it takes two vector
// instructions. Narrow and 128-bit values use the 32-bit bits.
template <typename Bits>
struct LaneBits {
  alignas(64) Bits bit[kLanes];
  constexpr LaneBits() : bit() {
    for (int i = 0; i < kLanes; ++i) bit[i] = Bits{1} << i;
  }
};
template <typename D>
using SelectorOf = std::conditional_t<sizeof(D) == 8, uint64_t, uint32_t>;
template <typename Bits>
inline constexpr LaneBits<Bits> kLaneBits;

// d[i] = value[i] for the lanes in the mask.
template <typename D>
inline void merge_lanes(LaneMask mask, D* __restrict d, const D* __restrict value) {
  if (mask == kAllLanes) {
    for (int i = 0; i < kLanes; ++i) d[i] = value[i];
    return;
  }
  const SelectorOf<D> chosen = mask;
  for (int i = 0; i < kLanes; ++i) {
    const D made = value[i], old = d[i];
    d[i] = (kLaneBits<SelectorOf<D>>.bit[i] & chosen) != 0 ? made : old;
  }
}

// d[i] = f(i) on each active lane. `f` must be total: it also runs for inactive lanes, whose
// results are dropped.
template <typename D, typename F>
inline void fill_lanes(LaneMask exec, D* d, F&& f) {
  if (exec == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = f(i);
  } else if constexpr (sizeof(D) == 4 || sizeof(D) == 8) {
    const SelectorOf<D> chosen = exec;
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) {
      const D made = f(i), old = d[i];
      d[i] = (kLaneBits<SelectorOf<D>>.bit[i] & chosen) != 0 ? made : old;
    }
  } else {
    alignas(64) D value[kLanes];
    for (int i = 0; i < kLanes; ++i) value[i] = f(i);
    merge_lanes(exec, d, value);
  }
}

// d = f(a), f(a, b), f(a, b, c) on each active lane. `f` must be total. The destination may be one
// of the sources, but never overlaps one in part.
template <typename D, typename A, typename F>
inline void each_lane(LaneMask exec, F f, D* d, const A* a) {
  fill_lanes(exec, d, [&](int i) { return static_cast<D>(f(a[i])); });
}

template <typename D, typename A, typename B, typename F>
inline void each_lane(LaneMask exec, F f, D* d, const A* a, const B* b) {
  fill_lanes(exec, d, [&](int i) { return static_cast<D>(f(a[i], b[i])); });
}

template <typename D, typename A, typename B, typename C, typename F>
inline void each_lane(LaneMask exec, F f, D* d, const A* a, const B* b, const C* c) {
  fill_lanes(exec, d, [&](int i) { return static_cast<D>(f(a[i], b[i], c[i])); });
}

// A predicate register is a mask. Bits of active lanes become those of `value`.
inline void merge_predicate(LaneMask exec, LaneMask& d, LaneMask value) {
  d = (d & ~exec) | (value & exec);
}

// The mask of lanes where f(a, b) holds.
template <typename A, typename F>
inline LaneMask lanes_where(F f, const A* a, const A* b) {
  LaneMask mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= static_cast<LaneMask>(f(a[i], b[i])) << i;
  return mask;
}

}  // namespace weft::emulator
