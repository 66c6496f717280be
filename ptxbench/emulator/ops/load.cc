// SPDX-License-Identifier: Apache-2.0

// ld: memory to registers, one handler per width, element count and shape of addresses.

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ptxbench/emulator/grid.h"
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
// Eight words at first + at[i]. Groups of lanes that read one word or neighbours are common where a
// block's rows are shorter than a warp; they need no gather.
inline __m256i gather_words(const std::byte* first, const uint32_t* at) {
  const __m256i offsets = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i apart = _mm256_sub_epi32(offsets, _mm256_set1_epi32(static_cast<int>(at[0])));
  if (_mm256_testz_si256(apart, apart)) {
    int word;
    std::memcpy(&word, first + at[0], sizeof word);
    return _mm256_set1_epi32(word);
  }
  const __m256i steps = _mm256_xor_si256(apart, _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
  if (_mm256_testz_si256(steps, steps))
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + at[0]));
  return _mm256_i32gather_epi32(reinterpret_cast<const int*>(first), offsets, 1);
}
#endif

// value[i] = the element at first + at[i]. Written lane by lane, the values would leave the store
// buffer before a vector load may read them; registers make wide stores of them.
template <typename Memory, typename Register, Order kOrder>
inline void gather(const std::byte* first, const uint32_t* at, Register* value) {
#if defined(__AVX2__)
  constexpr bool kPlain = kOrder == Order::Weak && sizeof(Memory) == sizeof(Register);
  if constexpr (kPlain && sizeof(Memory) == 4) {
    for (int i = 0; i < kLanes; i += 8)
      _mm256_store_si256(reinterpret_cast<__m256i*>(value + i), gather_words(first, at + i));
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

template <typename Memory, typename Register, int kElements, Order kOrder>
Outcome load(Warp& w, const Op& op, LaneMask exec) {
  const Transfer& t = transfer_of(op);
  LanePointers pointers;
  t.resolve(w, op, exec, t.bytes, t.alignment, false, pointers);
  if constexpr (kOrder == Order::Strong) ++w.block->cluster->spin_hints;
  auto get = [](const std::byte* from, int k) {
    return extend<Memory, Register>(
        load_one<Memory, kOrder>(from + k * static_cast<int>(sizeof(Memory))));
  };
  switch (pointers.shape) {
    case Shape::Fault:
      return Outcome::Fault;
    case Shape::Contiguous:
      for (int k = 0; k < kElements; ++k) {
        Register* d = w.write<Register>(t.slots[k]);
        if constexpr (kOrder == Order::Weak && kElements == 1 &&
                      sizeof(Memory) == sizeof(Register)) {
          std::memcpy(d, pointers.first, sizeof(Memory) * kLanes);
        } else {
          for (int i = 0; i < kLanes; ++i)
            pointers.offset[i] = static_cast<uint32_t>(i) * kElements * sizeof(Memory);
          gather<Memory, Register, kOrder>(pointers.first + k * static_cast<int>(sizeof(Memory)),
                                           pointers.offset, d);
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
          for_lanes(exec, [&](int lane) { d[lane] = value; });
        }
      }
      break;
    case Shape::Offsets:
      for (int k = 0; k < kElements; ++k) {
        Register* d = w.write<Register>(t.slots[k]);
        const std::byte* first = pointers.first + k * static_cast<int>(sizeof(Memory));
        if (exec == kAllLanes) {
          gather<Memory, Register, kOrder>(first, pointers.offset, d);
        } else {
          // Inactive lanes load too, from an active lane's place, and are dropped.
          alignas(64) Register value[kLanes];
          gather<Memory, Register, kOrder>(first, pointers.offset, value);
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

template <typename Memory, typename Register>
Handler by_elements(Order order, size_t elements) {
  const bool weak = order == Order::Weak;
  switch (elements) {
    case 1:
      return weak ? load<Memory, Register, 1, Order::Weak>
                  : load<Memory, Register, 1, Order::Strong>;
    case 2:
      return weak ? load<Memory, Register, 2, Order::Weak>
                  : load<Memory, Register, 2, Order::Strong>;
    case 4:
      return weak ? load<Memory, Register, 4, Order::Weak>
                  : load<Memory, Register, 4, Order::Strong>;
    case 8:
      if constexpr (sizeof(Memory) == 4)
        return weak ? load<Memory, Register, 8, Order::Weak> : nullptr;
      return nullptr;
    default:
      return nullptr;
  }
}

template <typename Memory>
Handler by_register(Order order, size_t elements, int register_bits) {
  if constexpr (sizeof(Memory) <= 1)
    if (register_bits == 8) return by_elements<Memory, uint8_t>(order, elements);
  if constexpr (sizeof(Memory) <= 2)
    if (register_bits == 16) return by_elements<Memory, uint16_t>(order, elements);
  if constexpr (sizeof(Memory) <= 4)
    if (register_bits == 32) return by_elements<Memory, uint32_t>(order, elements);
  if (register_bits == 64) return by_elements<Memory, uint64_t>(order, elements);
  return nullptr;
}

}  // namespace

Handler find_load(Order order, isa::Type type, size_t elements, int register_bits) {
  const bool sign = isa::is_signed(type) && isa::bits(type) < register_bits;
  switch (isa::bits(type)) {
    case 8:
      return sign ? by_register<int8_t>(order, elements, register_bits)
                  : by_register<uint8_t>(order, elements, register_bits);
    case 16:
      return sign ? by_register<int16_t>(order, elements, register_bits)
                  : by_register<uint16_t>(order, elements, register_bits);
    case 32:
      return sign ? by_register<int32_t>(order, elements, register_bits)
                  : by_register<uint32_t>(order, elements, register_bits);
    case 64:
      return by_register<uint64_t>(order, elements, register_bits);
    case 128:
      return elements == 1 && register_bits == 128 ? load<Wide, Wide, 1, Order::Weak> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace weft::emulator
