// SPDX-License-Identifier: Apache-2.0

// st: registers to memory. Memory takes the low bytes of a register that is wider.

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/memory/lane_words.h"
#include "ptxbench/emulator/ops/transfer.h"

namespace weft::emulator {

namespace {

using Shape = LanePointers::Shape;

#if defined(__AVX2__)
// Structures of two or four words, for all lanes. False: a shape that goes word by word.
template <int kElements>
bool store_words(const uint32_t* const* s, const LanePointers& pointers) {
  const bool contiguous = pointers.shape == Shape::Contiguous;
  if constexpr (kElements == 2) {
    if (!contiguous) return false;
    store_pairs(pointers.first, s);
  } else if (contiguous) {
    store_quads(
        pointers.first, [](int i) { return 16 * i; }, s);
  } else {
    if (pointers.shape != Shape::Offsets) return false;
    store_quads(
        pointers.first, [&](int i) { return pointers.offset[i]; }, s);
  }
  return true;
}
#endif

template <typename Memory, typename Register, int kElements, Order kOrder>
Outcome store(Warp& w, const Op& op, LaneMask exec) {
  const Transfer& t = transfer_of(op);
  LanePointers own;
  const LanePointers& pointers =
      lane_pointers(w, op, exec, t.resolve, t.bytes, t.alignment, true, own);
  const Register* values[kElements];
  for (int k = 0; k < kElements; ++k) values[k] = w.read<Register>(t.slots[k]);
  auto put = [&](std::byte* to, int lane) {
    for (int k = 0; k < kElements; ++k) {
      Memory value;
      std::memcpy(&value, &values[k][lane], sizeof value);  // little-endian: the low bytes
      store_one<Memory, kOrder>(to + k * static_cast<int>(sizeof(Memory)), value);
    }
  };
#if defined(__AVX2__)
  if constexpr (kOrder == Order::Weak && sizeof(Memory) == 4 && sizeof(Register) == 4 &&
                (kElements == 2 || kElements == 4))
    if (exec == kAllLanes && store_words<kElements>(values, pointers)) return Outcome::Next;
#endif
  switch (pointers.shape) {
    case Shape::Fault:
      return Outcome::Fault;
    case Shape::Contiguous:
      if constexpr (kOrder == Order::Weak && kElements == 1 && sizeof(Memory) == sizeof(Register)) {
        copy_vectors<sizeof(Memory) * kLanes>(pointers.first, values[0]);
      } else {
        for (int i = 0; i < kLanes; ++i)
          put(pointers.first + static_cast<uint32_t>(i) * t.bytes, i);
      }
      break;
    case Shape::Uniform:
      // Which lane's value stays is undefined; the last one's, as when they write in turn.
      put(pointers.first, 31 - std::countl_zero(exec));
      break;
    case Shape::Offsets:
      if (exec == kAllLanes) {
        for (int i = 0; i < kLanes; ++i) put(pointers.first + pointers.offset[i], i);
      } else {
        for_lanes(exec, [&](int lane) { put(pointers.first + pointers.offset[lane], lane); });
      }
      break;
    case Shape::Scattered:
      for_lanes(exec, [&](int lane) { put(pointers.lane[lane], lane); });
      break;
  }
  return Outcome::Next;
}

template <typename Memory, typename Register>
Handler by_elements(Order order, size_t elements) {
  const bool weak = order == Order::Weak;
  switch (elements) {
    case 1:
      return weak ? store<Memory, Register, 1, Order::Weak>
                  : store<Memory, Register, 1, Order::Strong>;
    case 2:
      return weak ? store<Memory, Register, 2, Order::Weak>
                  : store<Memory, Register, 2, Order::Strong>;
    case 4:
      return weak ? store<Memory, Register, 4, Order::Weak>
                  : store<Memory, Register, 4, Order::Strong>;
    case 8:
      if constexpr (sizeof(Memory) == 4)
        return weak ? store<Memory, Register, 8, Order::Weak> : nullptr;
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

Handler find_store(Order order, isa::Type type, size_t elements, int register_bits) {
  switch (isa::bits(type)) {
    case 8:
      return by_register<uint8_t>(order, elements, register_bits);
    case 16:
      return by_register<uint16_t>(order, elements, register_bits);
    case 32:
      return by_register<uint32_t>(order, elements, register_bits);
    case 64:
      return by_register<uint64_t>(order, elements, register_bits);
    case 128:
      return elements == 1 && register_bits == 128 ? store<Wide, Wide, 1, Order::Weak> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace weft::emulator
