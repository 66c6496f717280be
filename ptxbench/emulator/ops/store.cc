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

template <typename Memory>
Handler find(Order order, size_t elements, int register_bits) {
  return by_register<Memory>(order, elements, register_bits,
                             []<typename Register, int kElements, Order kOrder>() -> Handler {
                               return store<Memory, Register, kElements, kOrder>;
                             });
}

}  // namespace

Handler find_store(Order order, isa::Type type, size_t elements, int register_bits) {
  switch (isa::bits(type)) {
    case 8:
      return find<uint8_t>(order, elements, register_bits);
    case 16:
      return find<uint16_t>(order, elements, register_bits);
    case 32:
      return find<uint32_t>(order, elements, register_bits);
    case 64:
      return find<uint64_t>(order, elements, register_bits);
    case 128:
      return elements == 1 && register_bits == 128 ? store<Wide, Wide, 1, Order::Weak> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace weft::emulator
