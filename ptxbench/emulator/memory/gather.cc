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

#if defined(__AVX2__)
uint32_t least(__m128i v) {
  v = _mm_min_epu32(v, _mm_shuffle_epi32(v, 0x4e));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_min_epu32(v, _mm_shuffle_epi32(v, 0xb1))));
}
uint32_t greatest(__m128i v) {
  v = _mm_max_epu32(v, _mm_shuffle_epi32(v, 0x4e));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_max_epu32(v, _mm_shuffle_epi32(v, 0xb1))));
}

// The same for 32-bit addresses, with tests of whole vectors where the loop above would reduce
// them.
template <>
Pattern<uint32_t> find_pattern(const uint32_t* address, uint32_t size, uint32_t alignment) {
  const auto* v = reinterpret_cast<const __m256i*>(address);
  const __m256i first = _mm256_set1_epi32(static_cast<int>(address[0]));
  const __m256i stride = _mm256_set1_epi32(static_cast<int>(size));
  __m256i step = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), stride);
  const __m256i next = _mm256_slli_epi32(stride, 3);
  __m256i apart = _mm256_setzero_si256(), differs = apart, bits = apart, low = first, high = first;
  for (int i = 0; i < kLanes / 8; ++i) {
    const __m256i a = _mm256_load_si256(v + i);
    apart = _mm256_or_si256(apart, _mm256_xor_si256(_mm256_sub_epi32(a, first), step));
    differs = _mm256_or_si256(differs, _mm256_xor_si256(a, first));
    bits = _mm256_or_si256(bits, a);
    low = _mm256_min_epu32(low, a);
    high = _mm256_max_epu32(high, a);
    step = _mm256_add_epi32(step, next);
  }
  const __m256i below = _mm256_set1_epi32(static_cast<int>(alignment - 1));
  return {_mm256_testz_si256(apart, apart) != 0, _mm256_testz_si256(differs, differs) != 0,
          least(_mm_min_epu32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1))),
          greatest(_mm_max_epu32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1))),
          _mm256_testz_si256(bits, below) != 0 ? 0u : 1u};
}
#endif

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

// Addresses of the block's own shared memory: 32 bits say everything.
template <bool kWide>
void resolve_shared(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment,
                    bool write, LanePointers& out) {
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
  alignas(64) uint64_t address[kLanes];
  lane_addresses<uint64_t, kWide>(w, op, exec, address);
  if constexpr (kSpace == Space::Global || kSpace == Space::Generic) {
    const Pattern<uint64_t> p = find_pattern(address, size, alignment);
    if (p.misaligned == 0 && p.high - p.low < (1ull << 31) && static_cast<int64_t>(p.low) >= 0) {
      // All in one allocation: one check serves every lane.
      AccessCache& cache = w.cache;
      const GlobalMemory& memory = *w.block->grid->memory;
      const uint64_t generation = memory.generation();
      if (cache.generation != generation) cache = {.generation = generation};
      bool inside = cache.holds(p.low, p.high + size - 1);
      if (!inside && !in_shared_window(p.low)) {
        if (const auto allocation = memory.find(p.low);
            allocation && p.high + size <= allocation->address + allocation->size) {
          cache.add({allocation->address, allocation->address + allocation->size - 1});
          inside = true;
        }
      }
      if (inside) {
        take(p, exec, reinterpret_cast<std::byte*>(p.low), address, out);
        return;
      }
      if (kSpace == Space::Generic && in_shared_window(p.low) && in_shared_window(p.high)) {
        const uint64_t rank_low = (p.low - kSharedWindow) >> kSharedRankShift;
        const uint64_t rank_high = (p.high - kSharedWindow) >> kSharedRankShift;
        Block* owner = shared_owner(*w.block, p.low - kSharedWindow);
        if (rank_low == rank_high && owner != nullptr &&
            (p.high & kSharedOffsetMask) + size <= owner->shared.size()) {
          const uint64_t offset = p.low & kSharedOffsetMask;
          take(p, exec, owner->shared.data() + offset, address, out);
          return;
        }
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
