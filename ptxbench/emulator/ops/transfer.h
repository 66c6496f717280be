// SPDX-License-Identifier: Apache-2.0

// Loads and stores between registers and memory: what ops/load.cc and ops/store.cc share.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ptxbench/emulator/code.h"
#include "ptxbench/emulator/memory/gather.h"
#include "ptxbench/isa/types.h"

namespace weft::emulator {

// A 128-bit register.
struct Wide {
  uint64_t low, high;
};

// What a load or store needs besides the address: the element slots and how to reach memory.
struct Transfer final : Extra {
  Resolver resolve = nullptr;
  uint32_t bytes = 0;  // of one lane: elements x element size
  uint32_t alignment = 0;
  Slot slots[8];
};

inline const Transfer& transfer_of(const Op& op) {
  return *static_cast<const Transfer*>(static_cast<const Extra*>(op.extra));
}

enum class Order : uint8_t { Weak, Strong };  // Strong: other workers may look at the same time

// `elements` values of `type` in memory from or to registers of `register_bits`; nullptr when they
// do not fit. Loads extend by the type's sign, stores take the low bits.
Handler find_load(Order order, isa::Type type, size_t elements, int register_bits);
// The same for one word into a register of 32 bits, in spaces where that has a shorter way; nullptr
// elsewhere. Takes the register's slot in Op::d too.
Handler find_word_load(isa::Space space, bool wide);
Handler find_store(Order order, isa::Type type, size_t elements, int register_bits);

// The handler for what one load or store is about: handler.operator()<Register, kElements,
// kOrder>() for elements of type Memory. nullptr: there is no such transfer.
template <typename Register, typename Memory, typename F>
Handler by_elements(Order order, size_t elements, const F& handler) {
  const auto by_order = [&]<int kElements>() -> Handler {
    return order == Order::Weak ? handler.template operator()<Register, kElements, Order::Weak>()
                                : handler.template operator()<Register, kElements, Order::Strong>();
  };
  switch (elements) {
    case 1:
      return by_order.template operator()<1>();
    case 2:
      return by_order.template operator()<2>();
    case 4:
      return by_order.template operator()<4>();
    case 8:
      if constexpr (sizeof(Memory) == 4) {
        if (order == Order::Weak) return handler.template operator()<Register, 8, Order::Weak>();
      } else if constexpr (sizeof(Memory) == 2) {  // of multimem
        return by_order.template operator()<8>();
      }
      return nullptr;
    default:
      return nullptr;
  }
}
template <typename Memory, typename F>
Handler by_register(Order order, size_t elements, int register_bits, const F& handler) {
  if constexpr (sizeof(Memory) <= 1)
    if (register_bits == 8) return by_elements<uint8_t, Memory>(order, elements, handler);
  if constexpr (sizeof(Memory) <= 2)
    if (register_bits == 16) return by_elements<uint16_t, Memory>(order, elements, handler);
  if constexpr (sizeof(Memory) <= 4)
    if (register_bits == 32) return by_elements<uint32_t, Memory>(order, elements, handler);
  if (register_bits == 64) return by_elements<uint64_t, Memory>(order, elements, handler);
  return nullptr;
}

// The unsigned word as wide as T.
template <typename T>
using WordOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <typename Memory, Order kOrder>
inline Memory load_one(const std::byte* from) {
  if constexpr (kOrder == Order::Strong && sizeof(Memory) <= 8) {
    auto* word = const_cast<WordOf<Memory>*>(reinterpret_cast<const WordOf<Memory>*>(from));
    return std::bit_cast<Memory>(std::atomic_ref(*word).load(std::memory_order_acquire));
  } else {
    Memory value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
}

template <typename Memory, Order kOrder>
inline void store_one(std::byte* to, Memory value) {
  if constexpr (kOrder == Order::Strong && sizeof(Memory) <= 8) {
    auto* word = reinterpret_cast<WordOf<Memory>*>(to);
    std::atomic_ref(*word).store(std::bit_cast<WordOf<Memory>>(value), std::memory_order_release);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

}  // namespace weft::emulator
