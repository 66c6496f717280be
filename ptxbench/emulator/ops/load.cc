// SPDX-License-Identifier: Apache-2.0

// ld: memory to registers, one handler per width, element count and shape of addresses.

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/memory/lane_words.h"
#include "ptxbench/emulator/ops/transfer.h"

namespace weft::emulator {

namespace {

using Shape = LanePointers::Shape;

template <typename Memory, typename Register>
Register extend(Memory value) {
  if constexpr (sizeof(Register) == sizeof(Memory)) {
    return std::bit_cast<Register>(value);
  } else {
    return static_cast<Register>(value);  // sign-extends when Memory is signed
  }
}

#if defined(__AVX2__)
// One word a lane. Groups of lanes that read one word or neighbours are common where a block's rows
// are shorter than a warp; they need no gather.
inline void gather_words(const std::byte* first, const LanePointers& p, uint32_t* value) {
  auto* d = reinterpret_cast<__m256i*>(value);
  auto same = [&](int k) {
    int word;
    std::memcpy(&word, first + p.offset[8 * k], sizeof word);
    _mm256_store_si256(d + k, _mm256_set1_epi32(word));
  };
  auto run = [&](int k) {
    const auto* from = reinterpret_cast<const __m256i*>(first + p.offset[8 * k]);
    _mm256_store_si256(d + k, _mm256_loadu_si256(from));
  };
  if (p.groups == LanePointers::kAllSameWord) {
    for (int k = 0; k < 4; ++k) same(k);
    return;
  }
  if (p.groups == LanePointers::kAllRunsOfWords) {
    for (int k = 0; k < 4; ++k) run(k);
    return;
  }
  for (int k = 0; k < 4; ++k) {
    const int kind = p.groups >> 2 * k & 3;
    if (kind == LanePointers::kSameWord) {
      same(k);
    } else if (kind == LanePointers::kRunOfWords) {
      run(k);
    } else {
      const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(p.offset) + k);
      _mm256_store_si256(d + k, _mm256_i32gather_epi32(reinterpret_cast<const int*>(first), at, 1));
    }
  }
}
#endif

// value[i] = the element at first + at[i]. Written lane by lane, the values would leave the store
// buffer before a vector load may read them; registers make wide stores of them.
template <typename Memory, typename Register, Order kOrder>
inline void gather(const std::byte* first, const LanePointers& pointers, Register* value) {
  const uint32_t* at = pointers.offset;
#if defined(__AVX2__)
  constexpr bool kPlain = kOrder == Order::Weak && sizeof(Memory) == sizeof(Register);
  if constexpr (kPlain && sizeof(Memory) == 4) {
    gather_words(first, pointers, reinterpret_cast<uint32_t*>(value));
    return;
  }
  if constexpr (kPlain && sizeof(Memory) == 8) {
    for (int i = 0; i < kLanes; i += 4) {
      const __m128i offsets = _mm_load_si128(reinterpret_cast<const __m128i*>(at + i));
      const __m256i lanes =
          _mm256_i32gather_epi64(reinterpret_cast<const long long*>(first), offsets, 1);
      _mm256_store_si256(reinterpret_cast<__m256i*>(value + i), lanes);
    }
    return;
  }
#endif
  for (int i = 0; i < kLanes; ++i)
    value[i] = extend<Memory, Register>(load_one<Memory, kOrder>(first + at[i]));
}

#if defined(__AVX2__)
// Structures of two or four words, for all lanes. False: a shape that goes word by word.
template <int kElements>
bool load_words(Warp& w, const Transfer& t, const LanePointers& pointers) {
  uint32_t* d[kElements];
  for (int k = 0; k < kElements; ++k) d[k] = w.write<uint32_t>(t.slots[k]);
  const bool contiguous = pointers.shape == Shape::Contiguous;
  if constexpr (kElements == 2) {
    if (!contiguous) return false;
    load_pairs(pointers.first, d);
  } else if (contiguous) {
    load_quads(
        pointers.first, [](int i) { return 16 * i; }, d);
  } else {
    if (pointers.shape != Shape::Offsets) return false;
    load_quads(
        pointers.first, [&](int i) { return pointers.offset[i]; }, d);
  }
  return true;
}
#endif

template <typename Memory, typename Register, int kElements, Order kOrder>
Outcome load(Warp& w, const Op& op, LaneMask exec) {
  const Transfer& t = transfer_of(op);
  LanePointers own;
  const LanePointers& pointers =
      lane_pointers(w, op, exec, t.resolve, t.bytes, t.alignment, false, own);
  if constexpr (kOrder == Order::Strong) ++w.block->cluster->spin_hints;
  auto get = [](const std::byte* from, int k) {
    return extend<Memory, Register>(
        load_one<Memory, kOrder>(from + k * static_cast<int>(sizeof(Memory))));
  };
#if defined(__AVX2__)
  if constexpr (kOrder == Order::Weak && sizeof(Memory) == 4 && sizeof(Register) == 4 &&
                (kElements == 2 || kElements == 4))
    if (exec == kAllLanes && load_words<kElements>(w, t, pointers)) return Outcome::Next;
#endif
  switch (pointers.shape) {
    case Shape::Fault:
      return Outcome::Fault;
    case Shape::Contiguous:
      for (int k = 0; k < kElements; ++k) {
        Register* d = w.write<Register>(t.slots[k]);
        if constexpr (kOrder == Order::Weak && kElements == 1 &&
                      sizeof(Memory) == sizeof(Register)) {
          copy_vectors<sizeof(Memory) * kLanes>(d, pointers.first);
        } else {
          LanePointers strided;
          for (int i = 0; i < kLanes; ++i)
            strided.offset[i] = static_cast<uint32_t>(i) * kElements * sizeof(Memory);
          gather<Memory, Register, kOrder>(pointers.first + k * static_cast<int>(sizeof(Memory)),
                                           strided, d);
        }
      }
      break;
    case Shape::Uniform:
      for (int k = 0; k < kElements; ++k) {
        const Register value = get(pointers.first, k);
        Register* d = w.write<Register>(t.slots[k]);
        if (exec == kAllLanes) {
          for (int i = 0; i < kLanes; ++i) d[i] = value;
        } else {
          fill_lanes(exec, d, [value](int) { return value; });
        }
      }
      break;
    case Shape::Offsets:
      for (int k = 0; k < kElements; ++k) {
        Register* d = w.write<Register>(t.slots[k]);
        const std::byte* first = pointers.first + k * static_cast<int>(sizeof(Memory));
        if (exec == kAllLanes) {
          gather<Memory, Register, kOrder>(first, pointers, d);
        } else {
          // Inactive lanes load too, from an active lane's place, and are dropped.
          alignas(64) Register value[kLanes];
          gather<Memory, Register, kOrder>(first, pointers, value);
          merge_lanes(exec, d, value);
        }
      }
      break;
    case Shape::Scattered:
      for_lanes(exec, [&](int lane) {
        for (int k = 0; k < kElements; ++k)
          w.write<Register>(t.slots[k])[lane] = get(pointers.lane[lane], k);
      });
      break;
  }
  return Outcome::Next;
}

// --- one word a lane, the most common load ------------------------------------------------------

[[gnu::noinline]] Outcome load_word_with_checks(Warp& w, const Op& op, LaneMask exec) {
  return load<uint32_t, uint32_t, 1, Order::Weak>(w, op, exec);
}

#if defined(__AVX2__)
// Addresses that are known already. False: not known, or a shape that needs a gather.
inline bool load_known_word(Warp& w, const Op& op) {
  const KnownAddresses& known = w.known[op.small & kKnownIndex];
  const LanePointers& p = known.pointers;
  const auto moved = static_cast<uint64_t>(op.immediate - known.offset);
  if ((op.small & kMayBeKnown) == 0 || known.run != w.run_number || known.exec != kAllLanes ||
      known.size != 4 || moved + p.below > p.below + p.above || (moved & 3) != 0)
    return false;
  const std::byte* first = p.first + static_cast<int64_t>(moved);
  auto* d = reinterpret_cast<__m256i*>(w.write<uint32_t>(op.d));
  auto word_at = [&](uint32_t offset) {
    int word;
    std::memcpy(&word, first + offset, sizeof word);
    return _mm256_set1_epi32(word);
  };
  auto run_at = [&](uint32_t offset) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + offset));
  };
  if (p.shape == Shape::Uniform) {
    const __m256i word = word_at(0);
    for (int k = 0; k < 4; ++k) _mm256_store_si256(d + k, word);
    return true;
  }
  if (p.shape == Shape::Contiguous) {
    for (uint32_t k = 0; k < 4; ++k) _mm256_store_si256(d + k, run_at(32 * k));
    return true;
  }
  if (p.groups == LanePointers::kAllSameWord) {
    for (int k = 0; k < 4; ++k) _mm256_store_si256(d + k, word_at(p.offset[8 * k]));
    return true;
  }
  if (p.groups == LanePointers::kAllRunsOfWords) {
    for (int k = 0; k < 4; ++k) _mm256_store_si256(d + k, run_at(p.offset[8 * k]));
    return true;
  }
  return false;
}

Outcome load_shared_word(Warp& w, const Op& op, LaneMask exec) {
  if (exec == kAllLanes && load_known_word(w, op)) return Outcome::Next;
  return load_word_with_checks(w, op, exec);
}

// A run of words in the allocation that was used last.
inline bool load_global_run(Warp& w, const Op& op) {
  const uint64_t* base = w.read<uint64_t>(op.a);
  const uint64_t first = base[0] + static_cast<uint64_t>(op.immediate);
  const AccessCache::Range& range = w.cache.ranges[0];
  if (base[1] - base[0] != 4 || (first & 3) != 0 || first < range.first || first > range.last ||
      range.last - first < 4 * kLanes - 1 ||
      w.cache.generation != w.block->grid->memory->generation())
    return false;
  __m256i expected = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(base[0])),
                                      _mm256_setr_epi64x(0, 4, 8, 12));
  const __m256i next = _mm256_set1_epi64x(16);
  __m256i differs = _mm256_setzero_si256();
  for (int k = 0; k < 8; ++k) {
    const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(base) + k);
    differs = _mm256_or_si256(differs, _mm256_xor_si256(lanes, expected));
    expected = _mm256_add_epi64(expected, next);
  }
  if (!_mm256_testz_si256(differs, differs)) return false;
  // What another register left there in this run of ops is not this one's.
  if ((op.small & kKeepsKnown) != 0) w.known[op.small & kKnownIndex].run = 0;
  copy_vectors<4 * kLanes>(w.write<uint32_t>(op.d), reinterpret_cast<const std::byte*>(first));
  return true;
}

Outcome load_global_word(Warp& w, const Op& op, LaneMask exec) {
  if (exec == kAllLanes && (load_known_word(w, op) || load_global_run(w, op))) return Outcome::Next;
  return load_word_with_checks(w, op, exec);
}
#endif

template <typename Memory>
Handler find(Order order, size_t elements, int register_bits) {
  return by_register<Memory>(order, elements, register_bits,
                             []<typename Register, int kElements, Order kOrder>() -> Handler {
                               return load<Memory, Register, kElements, kOrder>;
                             });
}

}  // namespace

Handler find_word_load([[maybe_unused]] isa::Space space, [[maybe_unused]] bool wide) {
#if defined(__AVX2__)
  if (space == isa::Space::Shared) return load_shared_word;
  if (wide && (space == isa::Space::Global || space == isa::Space::Generic ||
               space == isa::Space::Constant))
    return load_global_word;
#endif
  return nullptr;
}

Handler find_load(Order order, isa::Type type, size_t elements, int register_bits) {
  const bool sign = isa::is_signed(type) && isa::bits(type) < register_bits;
  switch (isa::bits(type)) {
    case 8:
      return sign ? find<int8_t>(order, elements, register_bits)
                  : find<uint8_t>(order, elements, register_bits);
    case 16:
      return sign ? find<int16_t>(order, elements, register_bits)
                  : find<uint16_t>(order, elements, register_bits);
    case 32:
      return sign ? find<int32_t>(order, elements, register_bits)
                  : find<uint32_t>(order, elements, register_bits);
    case 64:
      return find<uint64_t>(order, elements, register_bits);
    case 128:
      return elements == 1 && register_bits == 128 ? load<Wide, Wide, 1, Order::Weak> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace weft::emulator
