// SPDX-License-Identifier: Apache-2.0

// The lanes of a warp: a mask, and the only loops over lanes of value operations. A register is 32
// values side by side, so a loop over all lanes becomes a few vector instructions.
#pragma once

#include <bit>
#include <cstdint>

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

// d[i] = value[i] for the lanes in the mask.
template <typename D>
inline void merge_lanes(LaneMask mask, D* __restrict d, const D* __restrict value) {
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i) & 1 ? value[i] : d[i];
}

// d = f(a), f(a, b), f(a, b, c) on each active lane. `f` must be total: it also runs on the values
// of inactive lanes, whose results are dropped. The destination may be one of the sources, but
// never overlaps one in part.
template <typename D, typename A, typename F>
inline void each_lane(LaneMask exec, F f, D* d, const A* a) {
  if (exec == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = f(a[i]);
  } else {
    alignas(64) D value[kLanes];
    for (int i = 0; i < kLanes; ++i) value[i] = f(a[i]);
    merge_lanes(exec, d, value);
  }
}

template <typename D, typename A, typename B, typename F>
inline void each_lane(LaneMask exec, F f, D* d, const A* a, const B* b) {
  if (exec == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = f(a[i], b[i]);
  } else {
    alignas(64) D value[kLanes];
    for (int i = 0; i < kLanes; ++i) value[i] = f(a[i], b[i]);
    merge_lanes(exec, d, value);
  }
}

template <typename D, typename A, typename B, typename C, typename F>
inline void each_lane(LaneMask exec, F f, D* d, const A* a, const B* b, const C* c) {
  if (exec == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = f(a[i], b[i], c[i]);
  } else {
    alignas(64) D value[kLanes];
    for (int i = 0; i < kLanes; ++i) value[i] = f(a[i], b[i], c[i]);
    merge_lanes(exec, d, value);
  }
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
