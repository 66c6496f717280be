// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/memory/gather.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/memory/access.h"

namespace weft::emulator {

namespace {

using isa::Space;
using Shape = LanePointers::Shape;

// Effective addresses. Lanes that are inactive take the address of the first active one, so the
// loops over addresses need no mask. T is the width that the space's addresses need.
template <typename T, bool kWide>
void lane_addresses(const Warp& w, const Op& op, LaneMask exec, T* address) {
  using Base = std::conditional_t<kWide, uint64_t, uint32_t>;
  const T offset = static_cast<T>(op.immediate);
  const Base* base = w.read<Base>(op.a);
  for (int i = 0; i < kLanes; ++i) address[i] = static_cast<T>(base[i]) + offset;
  if (exec != kAllLanes) {
    const T known = address[first_lane(exec)];
    for (int i = 0; i < kLanes; ++i) address[i] = (exec >> i) & 1 ? address[i] : known;
  }
}

// Where the addresses lie relative to each other.
template <typename T>
struct Pattern {
  bool contiguous, uniform;
  T low, high;
  T misaligned;  // 0: every address is aligned
};

// Signed 64-bit comparison vectorises on AVX2 and unsigned does not; no address reaches the sign
// bit except garbage, which the bounds check refuses.
template <typename T>
Pattern<T> find_pattern(const T* address, uint32_t size, uint32_t alignment) {
  using Ordered = std::conditional_t<sizeof(T) == 8, int64_t, uint32_t>;
  const T first = address[0];
  Ordered lowest = static_cast<Ordered>(first), highest = lowest;
  T apart = 0, differs = 0, bits = 0;
  for (int i = 0; i < kLanes; ++i) {
    const Ordered a = static_cast<Ordered>(address[i]);
    apart |= (address[i] - first) ^ static_cast<T>(static_cast<uint32_t>(i) * size);
    differs |= address[i] ^ first;
    bits |= address[i];
    lowest = a < lowest ? a : lowest;
    highest = a > highest ? a : highest;
  }
  return {apart == 0, differs == 0, static_cast<T>(lowest), static_cast<T>(highest),
          static_cast<T>(bits & (alignment - 1))};
}

// One lane after the other, with the full checks: finds the lane at fault, or resolves mixed
// windows.
template <typename T>
void one_by_one(Warp& w, const Op& op, LaneMask exec, Space space, const T* address, uint32_t size,
                uint32_t alignment, bool write, LanePointers& out) {
  out.shape = Shape::Scattered;
  const AccessKind kind = write ? AccessKind::Write : AccessKind::Read;
  for (LaneMask left = exec; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    out.lane[lane] = access(w, op, lane, space, address[lane], size, alignment, kind);
    if (out.lane[lane] == nullptr) {
      out.shape = Shape::Fault;
      return;
    }
  }
}

// All addresses lie within 2 GiB from `p.low`, whose host address is `at_low`; `readable` bytes
// follow it.
template <typename T>
void take(const Pattern<T>& p, LaneMask exec, std::byte* at_low, const T* address,
          LanePointers& out) {
  out.first = at_low;
  if (p.uniform) {
    out.shape = Shape::Uniform;
  } else if (p.contiguous && exec == kAllLanes) {
    out.shape = Shape::Contiguous;
  } else {
    out.shape = Shape::Offsets;
    for (int i = 0; i < kLanes; ++i) out.offset[i] = static_cast<uint32_t>(address[i] - p.low);
  }
}

#if defined(__AVX2__)
// The lanes of `exec` as all ones, the others zero, eight at a time.
inline __m256i chosen_words(LaneMask exec, int k) {
  const __m256i bits =
      _mm256_load_si256(reinterpret_cast<const __m256i*>(kLaneBits<uint32_t>.bit + 8 * k));
  const __m256i all = _mm256_set1_epi32(static_cast<int>(exec));
  return _mm256_cmpeq_epi32(_mm256_and_si256(all, bits), bits);
}

inline bool all_zero(__m256i v) {
  return _mm256_testz_si256(v, v) != 0;
}
// The 32-bit numbers of all lanes, in four registers. Members instead of an array: GCC keeps an
// array in memory and copies it by halves, which a later load of a whole vector has to wait for.
struct LaneWords {
  __m256i a, b, c, d;

  template <typename F>
  LaneWords map(F&& f) const {
    return {f(a, 0), f(b, 1), f(c, 2), f(d, 3)};
  }
  template <typename F>
  __m256i fold(F&& f) const {
    return f(f(a, b), f(c, d));
  }
  __m256i any() const {
    return fold([](__m256i x, __m256i y) { return _mm256_or_si256(x, y); });
  }
  __m256i lowest() const {
    return fold([](__m256i x, __m256i y) { return _mm256_min_epi32(x, y); });
  }
  __m256i highest() const {
    return fold([](__m256i x, __m256i y) { return _mm256_max_epi32(x, y); });
  }
  void store(uint32_t* to) const {
    auto* v = reinterpret_cast<__m256i*>(to);
    _mm256_store_si256(v, a);
    _mm256_store_si256(v + 1, b);
    _mm256_store_si256(v + 2, c);
    _mm256_store_si256(v + 3, d);
  }
};

inline __m256i words_at(const void* from, int k) {
  return _mm256_load_si256(static_cast<const __m256i*>(from) + k);
}
inline __m256i every(uint32_t word) {
  return _mm256_set1_epi32(static_cast<int>(word));
}

inline int32_t least(__m256i v) {
  __m128i x = _mm_min_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  x = _mm_min_epi32(x, _mm_shuffle_epi32(x, 0x4e));
  return _mm_cvtsi128_si32(_mm_min_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}
inline int32_t greatest(__m256i v) {
  __m128i x = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  x = _mm_max_epi32(x, _mm_shuffle_epi32(x, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}
// Whether eight lanes read one word or words that follow each other.
inline uint8_t group_of(__m256i at) {
  const __m256i apart = _mm256_sub_epi32(at, _mm256_broadcastd_epi32(_mm256_castsi256_si128(at)));
  if (all_zero(apart)) return LanePointers::kSameWord;
  const __m256i run = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
  return all_zero(_mm256_xor_si256(apart, run)) ? LanePointers::kRunOfWords : 0;
}

inline void set_offsets(const LaneWords& at, uint32_t size, LanePointers& out) {
  out.shape = Shape::Offsets;
  at.store(out.offset);
  if (size == 4)
    out.groups = static_cast<uint8_t>(group_of(at.a) | group_of(at.b) << 2 | group_of(at.c) << 4 |
                                      group_of(at.d) << 6);
}

// The block's own shared memory, addresses of 32 bits: everything stays in four registers. False:
// some lane is at fault.
bool resolve_own_shared(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment,
                        LanePointers& out) {
  const uint32_t* base = w.read<uint32_t>(op.a);
  const auto offset = static_cast<uint32_t>(op.immediate);
  const uint32_t at_first = (base[first_lane(exec)] + offset) & kSharedOffsetMask;
  const __m256i front = every(at_first), added = every(offset), mask = every(kSharedOffsetMask);
  auto address = [&](int k) {
    return _mm256_and_si256(_mm256_add_epi32(words_at(base, k), added), mask);
  };
  LaneWords at{address(0), address(1), address(2), address(3)};
  if (exec != kAllLanes)
    at = at.map(
        [&](__m256i v, int k) { return _mm256_blendv_epi8(front, v, chosen_words(exec, k)); });
  const int last = static_cast<int>(w.block->shared.size()) - static_cast<int>(size);
  const __m256i bad =
      _mm256_or_si256(_mm256_cmpgt_epi32(at.highest(), every(static_cast<uint32_t>(last))),
                      _mm256_and_si256(at.any(), every(alignment - 1)));
  if (!all_zero(bad)) return false;
  out.first = w.block->shared.data() + at_first;
  const LaneWords apart = at.map([&](__m256i v, int) { return _mm256_sub_epi32(v, front); });
  const auto second = static_cast<uint32_t>(_mm256_extract_epi32(apart.a, 1));
  if (second == 0 && all_zero(apart.any())) {
    out.shape = Shape::Uniform;
    out.below = at_first;
    out.above = w.block->shared.size() - at_first - size;
    return true;
  }
  if (second == size && exec == kAllLanes) {
    const __m256i step = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), every(size));
    const LaneWords off = apart.map([&](__m256i v, int k) {
      return _mm256_xor_si256(_mm256_sub_epi32(v, every(8 * size * static_cast<uint32_t>(k))),
                              step);
    });
    if (all_zero(off.any())) {
      out.shape = Shape::Contiguous;
      out.below = at_first;
      out.above = w.block->shared.size() - at_first - kLanes * size;
      return true;
    }
  }
  out.first = w.block->shared.data();
  out.below = static_cast<uint32_t>(least(at.lowest()));
  out.above = w.block->shared.size() - static_cast<uint32_t>(greatest(at.highest())) - size;
  set_offsets(at, size, out);
  return true;
}

// Whether 64-bit addresses of all lanes are those of the first one, or follow it `size` apart.
inline bool same_address(const uint64_t* base) {
  const __m256i front = _mm256_set1_epi64x(static_cast<long long>(base[0]));
  __m256i differs = _mm256_setzero_si256();
  for (int k = 0; k < 8; ++k) {
    const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(base) + k);
    differs = _mm256_or_si256(differs, _mm256_xor_si256(lanes, front));
  }
  return all_zero(differs);
}
inline bool follows(const uint64_t* base, uint32_t size) {
  const auto step = static_cast<long long>(size);
  __m256i expected = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(base[0])),
                                      _mm256_setr_epi64x(0, step, 2 * step, 3 * step));
  const __m256i next = _mm256_set1_epi64x(4 * step);
  __m256i differs = _mm256_setzero_si256();
  for (int k = 0; k < 8; ++k) {
    const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(base) + k);
    differs = _mm256_or_si256(differs, _mm256_xor_si256(lanes, expected));
    expected = _mm256_add_epi64(expected, next);
  }
  return all_zero(differs);
}

// Eight 64-bit differences as 32-bit numbers in `low`; `top` is all zero bits when they fit.
inline void narrow(__m256i x, __m256i y, __m256i& low, __m256i& top) {
  const __m256 u = _mm256_castsi256_ps(x), v = _mm256_castsi256_ps(y);
  // The shuffles work within 128-bit halves; the permutation puts the quarters in lane order.
  low = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(u, v, 0x88)), 0xd8);
  top = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(u, v, 0xdd)), 0xd8);
  top = _mm256_xor_si256(top, _mm256_srai_epi32(low, 31));
}

// Distances of 64-bit addresses from the first active lane's, as 32-bit numbers; false when one
// does not fit. Inactive lanes get zero.
inline bool distances(const uint64_t* base, LaneMask exec, LaneWords& apart) {
  const __m256i front = _mm256_set1_epi64x(static_cast<long long>(base[first_lane(exec)]));
  auto difference = [&](int k) { return _mm256_sub_epi64(words_at(base, k), front); };
  LaneWords top;
  narrow(difference(0), difference(1), apart.a, top.a);
  narrow(difference(2), difference(3), apart.b, top.b);
  narrow(difference(4), difference(5), apart.c, top.c);
  narrow(difference(6), difference(7), apart.d, top.d);
  if (exec != kAllLanes) {
    auto chosen = [exec](__m256i v, int k) { return _mm256_and_si256(v, chosen_words(exec, k)); };
    apart = apart.map(chosen);
    top = top.map(chosen);
  }
  return all_zero(top.any());
}

#endif

// Whether bytes [low, high] lie in one allocation.
inline bool one_allocation(Warp& w, uint64_t low, uint64_t high) {
  AccessCache& cache = w.cache;
  const GlobalMemory& memory = *w.block->grid->memory;
  const uint64_t generation = memory.generation();
  if (cache.generation != generation) cache = {.generation = generation};
  if (cache.holds(low, high)) return true;
  if (in_shared_window(low)) return false;
  const auto allocation = memory.find(low);
  if (!allocation || high - allocation->address >= allocation->size) return false;
  cache.add({allocation->address, allocation->address + allocation->size - 1});
  return true;
}

// Points at bytes [low, high] when they lie in one allocation or, for generic addresses, in the
// shared memory of one block.
template <Space kSpace>
inline bool one_place(Warp& w, uint64_t low, uint64_t high, LanePointers& out) {
  if (high < low) return false;
  if (one_allocation(w, low, high)) {
    const AccessCache::Range& range = w.cache.ranges[0];
    out.first = reinterpret_cast<std::byte*>(low);
    out.below = low - range.first;
    out.above = range.last - high;
    return true;
  }
  if (kSpace != Space::Generic || !in_shared_window(low) || !in_shared_window(high)) return false;
  const uint64_t from = low - kSharedWindow, to = high - kSharedWindow;
  Block* owner = shared_owner(*w.block, from);
  if (owner == nullptr || from >> kSharedRankShift != to >> kSharedRankShift ||
      (to & kSharedOffsetMask) >= owner->shared.size())
    return false;
  out.first = owner->shared.data() + (from & kSharedOffsetMask);
  return true;
}

#if defined(__AVX2__)
// Addresses of 64 bits in global memory, or generic ones. False: not all in one place, or at fault.
template <Space kSpace>
bool resolve_together(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment,
                      LanePointers& out) {
  const uint64_t* base = w.read<uint64_t>(op.a);
  const uint64_t front = base[first_lane(exec)] + static_cast<uint64_t>(op.immediate);
  if (exec == kAllLanes) {
    const uint64_t second = base[1] - base[0];
    const bool uniform = second == 0 && same_address(base);
    if (uniform || (second == size && follows(base, size))) {
      // `size` is a multiple of the alignment.
      if ((front & (alignment - 1)) != 0) return false;
      out.shape = uniform ? Shape::Uniform : Shape::Contiguous;
      return one_place<kSpace>(w, front, front + (uniform ? size : kLanes * size) - 1, out);
    }
  }
  LaneWords apart;
  if (!distances(base, exec, apart)) return false;
  const __m256i bits = apart.any();
  if (!_mm256_testz_si256(bits, every(alignment - 1)) || (front & (alignment - 1)) != 0)
    return false;
  if (all_zero(bits)) {
    out.shape = Shape::Uniform;
    return one_place<kSpace>(w, front, front + size - 1, out);
  }
  const int32_t low = least(apart.lowest()), high = greatest(apart.highest());
  // Offsets from the lowest address must fit 31 bits: gathers take them as signed.
  if (int64_t{high} - low > INT32_MAX) return false;
  const uint64_t lowest = front + static_cast<uint64_t>(int64_t{low});
  const LaneWords at = apart.map(
      [low](__m256i v, int) { return _mm256_sub_epi32(v, every(static_cast<uint32_t>(low))); });
  set_offsets(at, size, out);
  return one_place<kSpace>(w, lowest, front + static_cast<uint64_t>(int64_t{high}) + size - 1, out);
}
#endif

// Addresses of the block's own shared memory: 32 bits say everything.
template <bool kWide>
void resolve_shared(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment,
                    bool write, LanePointers& out) {
#if defined(__AVX2__)
  if constexpr (!kWide)
    if (resolve_own_shared(w, op, exec, size, alignment, out)) return;
#endif
  alignas(64) uint32_t address[kLanes];
  lane_addresses<uint32_t, kWide>(w, op, exec, address);
  const Pattern<uint32_t> p = find_pattern(address, size, alignment);
  const uint32_t low = p.low & kSharedOffsetMask;
  if (p.misaligned == 0 && uint64_t{low} + (p.high - p.low) + size <= w.block->shared.size()) {
    take(p, exec, w.block->shared.data() + low, address, out);
    return;
  }
  one_by_one(w, op, exec, Space::Shared, address, size, alignment, write, out);
}

template <Space kSpace, bool kWide>
void resolve(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment, bool write,
             LanePointers& out) {
  constexpr bool kTogether = kSpace == Space::Global || kSpace == Space::Generic;
#if defined(__AVX2__)
  if constexpr (kTogether && kWide)
    if (resolve_together<kSpace>(w, op, exec, size, alignment, out)) return;
#endif
  alignas(64) uint64_t address[kLanes];
  lane_addresses<uint64_t, kWide>(w, op, exec, address);
  if constexpr (kTogether) {
    const Pattern<uint64_t> p = find_pattern(address, size, alignment);
    if (p.misaligned == 0 && p.high - p.low < (1ull << 31) && static_cast<int64_t>(p.low) >= 0) {
      // All in one allocation: one check serves every lane.
      if (one_place<kSpace>(w, p.low, p.high + size - 1, out)) {
        take(p, exec, out.first, address, out);
        return;
      }
    }
  }
  one_by_one(w, op, exec, kSpace, address, size, alignment, write, out);
}

template <Space kSpace>
Resolver pick(bool wide) {
  return wide ? resolve<kSpace, true> : resolve<kSpace, false>;
}

}  // namespace

Resolver find_resolver(Space space, bool wide) {
  switch (space) {
    case Space::Shared:
      return wide ? resolve_shared<true> : resolve_shared<false>;
    case Space::SharedCluster:
      return pick<Space::SharedCluster>(wide);
    case Space::Local:
    case Space::ParamFunction:
      return pick<Space::Local>(wide);
    case Space::Generic:
      return pick<Space::Generic>(wide);
    default:
      return pick<Space::Global>(wide);
  }
}

}  // namespace weft::emulator
