// SPDX-License-Identifier: Apache-2.0

// Atomics and reductions on memory (PTX ISA 9.0, section 9.7.13: atom, red). Lanes take their turn,
// lowest first. Global memory is shared with other workers, so every update is a host atomic; the
// order is stronger than any that PTX can ask for.

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "ptxbench/emulator/check/shared_watch.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/memory/gather.h"
#include "ptxbench/emulator/numeric/half.h"
#include "ptxbench/emulator/ops/async_copy.h"
#include "ptxbench/emulator/ops/multimem.h"

namespace weft::emulator {

namespace {

using isa::Type;

// --- what an update does to one element ----------------------------------------------------------

struct Add {
  template <typename T>
  T operator()(T old, T b) const {
    if constexpr (std::is_same_v<T, float>) {
      // Flushes nothing on global memory (section 9.7.13.2), nor on shared memory of an H200.
      return numeric::canonical(old + b);
    } else {
      return static_cast<T>(old + b);
    }
  }
};
struct Minimum {
  template <typename T>
  T operator()(T old, T b) const {
    return b < old ? b : old;
  }
};
struct Maximum {
  template <typename T>
  T operator()(T old, T b) const {
    return b > old ? b : old;
  }
};
struct Increment {
  uint32_t operator()(uint32_t old, uint32_t b) const { return old >= b ? 0 : old + 1; }
};
struct Decrement {
  uint32_t operator()(uint32_t old, uint32_t b) const { return old == 0 || old > b ? b : old - 1; }
};
struct And {
  template <typename T>
  T operator()(T old, T b) const {
    return old & b;
  }
};
struct Or {
  template <typename T>
  T operator()(T old, T b) const {
    return old | b;
  }
};
struct Xor {
  template <typename T>
  T operator()(T old, T b) const {
    return old ^ b;
  }
};
struct Exchange {
  template <typename T>
  T operator()(T, T b) const {
    return b;
  }
};

// Packed and single half formats on their bit patterns.
template <typename Format, typename F>
struct HalfUpdate {
  uint16_t operator()(uint16_t old, uint16_t b) const {
    return static_cast<uint16_t>(
        Format::from_float(F{}(Format::to_float(old), Format::to_float(b))));
  }
  uint32_t operator()(uint32_t old, uint32_t b) const {
    const uint32_t low = (*this)(static_cast<uint16_t>(old), static_cast<uint16_t>(b));
    const uint32_t high = (*this)(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16));
    return low | high << 16;
  }
};
struct FloatMinimum {  // the number wins over NaN
  float operator()(float old, float b) const { return b != b || old < b ? old : b; }
};
struct FloatMaximum {
  float operator()(float old, float b) const { return b != b || old > b ? old : b; }
};

template <typename T>
using Word = std::conditional_t<sizeof(T) == 2, uint16_t,
                                std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

// Who else may touch a cell: other workers global memory, nobody a cluster's shared memory.
enum class Cells : uint8_t { Everybodys, Own };

template <Cells kCells, typename T, typename F>
T update(std::byte* at, T b, F f) {
  if constexpr (kCells == Cells::Own) {
    T old;
    std::memcpy(&old, at, sizeof old);
    const T now = f(old, b);
    std::memcpy(at, &now, sizeof now);
    return old;
  }
  std::atomic_ref<Word<T>> cell(*reinterpret_cast<Word<T>*>(at));
  Word<T> old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, std::bit_cast<Word<T>>(f(std::bit_cast<T>(old), b)))) {
  }
  return std::bit_cast<T>(old);
}

// 128-bit cells have no host atomic everywhere: one lock for all of them.
std::mutex& wide_cells() {
  static std::mutex mutex;
  return mutex;
}

struct Wide {
  uint64_t low, high;
  bool operator==(const Wide&) const = default;
};

// --- handlers -----------------------------------------------------------------------------------

struct AtomicOperands final : Extra {
  isa::Space space = isa::Space::Generic;
  bool wide_address = true;
  Resolver resolve = nullptr;
  uint32_t elements = 1;
  Slot d[8], b[8];
};

const AtomicOperands& operands_of(const Op& op) {
  return *static_cast<const AtomicOperands*>(static_cast<const Extra*>(op.extra));
}

std::byte* cell_of(Warp& w, const Op& op, const AtomicOperands& o, int lane, uint32_t bytes) {
  return access(w, op, lane, o.space, lane_address(w, op.a, o.wide_address, op.immediate, lane),
                bytes, bytes, AccessKind::Atomic);
}

// All lanes update one cell: their updates in turn are one update of the cell, done at once. `d` is
// nullptr when nobody wants the old values.
template <Cells kCells, typename T, typename F>
void update_one_cell(std::byte* at, LaneMask exec, const T* b, T* d) {
  auto in_turn = [&](T value) {
    for (LaneMask left = exec; left != 0; left &= left - 1) {
      const int lane = first_lane(left);
      const T mine = b[lane];
      if (d != nullptr) d[lane] = value;
      value = F{}(value, mine);
    }
    return value;
  };
  if (d == b) {  // the old values would overwrite operands that a second try needs
    T operands[kLanes];
    std::memcpy(operands, b, sizeof operands);
    update_one_cell<kCells, T, F>(at, exec, operands, d);
  } else if constexpr (kCells == Cells::Own) {
    T old;
    std::memcpy(&old, at, sizeof old);
    const T now = in_turn(old);
    std::memcpy(at, &now, sizeof now);
  } else {
    std::atomic_ref<Word<T>> cell(*reinterpret_cast<Word<T>*>(at));
    Word<T> old = cell.load(std::memory_order_relaxed);
    while (
        !cell.compare_exchange_weak(old, std::bit_cast<Word<T>>(in_turn(std::bit_cast<T>(old))))) {
    }
  }
}

// One cell a lane, in one place of memory.
template <Cells kCells, typename T, typename F>
void update_offsets(const LanePointers& pointers, LaneMask exec, const T* b, T* d) {
  auto one = [&](int lane) {
    const T old = update<kCells, T>(pointers.first + pointers.offset[lane], b[lane], F{});
    if (d != nullptr) d[lane] = old;
  };
  if (exec == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) one(lane);
  } else {
    for_lanes(exec, one);
  }
}

template <Cells kCells, typename T, typename F>
Outcome update_cells(Warp& w, const Op& op, LaneMask exec) {
  const AtomicOperands& o = operands_of(op);
  ++w.block->cluster->spin_hints;
  const uint32_t bytes = static_cast<uint32_t>(sizeof(T)) * o.elements;
  LanePointers pointers;
  o.resolve(w, op, exec, bytes, bytes, true, pointers);
  if (pointers.shape == LanePointers::Shape::Fault) return Outcome::Fault;
  if (o.elements == 1) {
    const T* b = w.read<T>(o.b[0]);
    T* d = o.d[0] != kNoSlot ? w.write<T>(o.d[0]) : nullptr;
    if (pointers.shape == LanePointers::Shape::Uniform) {
      update_one_cell<kCells, T, F>(pointers.first, exec, b, d);
      return Outcome::Next;
    }
    if (pointers.shape == LanePointers::Shape::Offsets) {
      update_offsets<kCells, T, F>(pointers, exec, b, d);
      return Outcome::Next;
    }
  }
  for (LaneMask left = exec; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    std::byte* cell = pointers.of(lane, bytes);
    for (uint32_t k = 0; k < o.elements; ++k) {
      const T old = update<kCells, T>(cell + k * sizeof(T), w.read<T>(o.b[k])[lane], F{});
      if (o.d[k] != kNoSlot) w.write<T>(o.d[k])[lane] = old;
    }
  }
  return Outcome::Next;
}

// The handlers of one operation, chosen by the space that the instruction names.
struct Handlers {
  Handler everybodys = nullptr, own = nullptr;
};

template <typename T, typename F>
constexpr Handlers atomic{update_cells<Cells::Everybodys, T, F>, update_cells<Cells::Own, T, F>};

template <typename T>
Outcome compare_and_swap(Warp& w, const Op& op, LaneMask exec) {
  const AtomicOperands& o = operands_of(op);
  ++w.block->cluster->spin_hints;
  for (LaneMask left = exec; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    std::byte* cell = cell_of(w, op, o, lane, sizeof(T));
    if (cell == nullptr) return Outcome::Fault;
    T expected = w.read<T>(o.b[0])[lane];
    const T desired = w.read<T>(op.c)[lane];
    if constexpr (sizeof(T) == 16) {
      std::lock_guard lock(wide_cells());
      T old;
      std::memcpy(&old, cell, sizeof old);
      if (old == expected) std::memcpy(cell, &desired, sizeof desired);
      expected = old;
    } else {
      std::atomic_ref<T>(*reinterpret_cast<T*>(cell)).compare_exchange_strong(expected, desired);
    }
    if (o.d[0] != kNoSlot) w.write<T>(o.d[0])[lane] = expected;
  }
  return Outcome::Next;
}

Outcome exchange_wide(Warp& w, const Op& op, LaneMask exec) {
  const AtomicOperands& o = operands_of(op);
  for (LaneMask left = exec; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    std::byte* cell = cell_of(w, op, o, lane, sizeof(Wide));
    if (cell == nullptr) return Outcome::Fault;
    const Wide value = w.read<Wide>(o.b[0])[lane];
    Wide old;
    std::lock_guard lock(wide_cells());
    std::memcpy(&old, cell, sizeof old);
    std::memcpy(cell, &value, sizeof value);
    if (o.d[0] != kNoSlot) w.write<Wide>(o.d[0])[lane] = old;
  }
  return Outcome::Next;
}

Handlers find_bitwise(std::string_view operation, int bits) {
  const bool wide = bits == 64;
  if (operation == "and") return wide ? atomic<uint64_t, And> : atomic<uint32_t, And>;
  if (operation == "or") return wide ? atomic<uint64_t, Or> : atomic<uint32_t, Or>;
  if (operation == "xor") return wide ? atomic<uint64_t, Xor> : atomic<uint32_t, Xor>;
  if (bits == 128) return {exchange_wide, exchange_wide};
  return wide ? atomic<uint64_t, Exchange> : atomic<uint32_t, Exchange>;
}

template <typename Format>
Handlers find_half(std::string_view operation, int bits) {
  const bool packed = bits == 32;
  if (operation == "add")
    return packed ? atomic<uint32_t, HalfUpdate<Format, Add>>
                  : atomic<uint16_t, HalfUpdate<Format, Add>>;
  if (operation == "min")
    return packed ? atomic<uint32_t, HalfUpdate<Format, FloatMinimum>>
                  : atomic<uint16_t, HalfUpdate<Format, FloatMinimum>>;
  return packed ? atomic<uint32_t, HalfUpdate<Format, FloatMaximum>>
                : atomic<uint16_t, HalfUpdate<Format, FloatMaximum>>;
}

template <typename T>
Handlers find_arithmetic(std::string_view operation) {
  if (operation == "add") return atomic<T, Add>;
  if (operation == "min") return atomic<T, Minimum>;
  return atomic<T, Maximum>;
}

Handlers find_handlers(std::string_view operation, Type type) {
  const int bits = isa::bits(type);
  if (operation == "inc") return atomic<uint32_t, Increment>;
  if (operation == "dec") return atomic<uint32_t, Decrement>;
  if (operation == "cas") {
    switch (bits) {
      case 16:
        return {compare_and_swap<uint16_t>, compare_and_swap<uint16_t>};
      case 32:
        return {compare_and_swap<uint32_t>, compare_and_swap<uint32_t>};
      case 64:
        return {compare_and_swap<uint64_t>, compare_and_swap<uint64_t>};
      default:
        return {compare_and_swap<Wide>, compare_and_swap<Wide>};
    }
  }
  if (operation == "and" || operation == "or" || operation == "xor" || operation == "exch")
    return find_bitwise(operation, bits);
  switch (type) {
    case Type::U32:
      return find_arithmetic<uint32_t>(operation);
    case Type::S32:
      return find_arithmetic<int32_t>(operation);
    case Type::U64:
      return find_arithmetic<uint64_t>(operation);
    case Type::S64:
      return find_arithmetic<int64_t>(operation);
    case Type::F32:
      return operation == "add" ? atomic<float, Add> : Handlers{};
    case Type::F64:
      return operation == "add" ? atomic<double, Add> : Handlers{};
    case Type::F16:
    case Type::F16x2:
      return find_half<numeric::F16>(operation, bits);
    case Type::Bf16:
    case Type::Bf16x2:
      return find_half<numeric::Bf16>(operation, bits);
    default:
      return {};
  }
}

std::string_view operation_of(const ptx::Instruction& i) {
  for (std::string_view word :
       {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"})
    if (i.has(word)) return word;
  return {};
}

Result<Done> lower_atomic(Lowering& l, const ptx::Instruction& i) {
  const bool returns = i.opcode == "atom";
  if (!returns && i.has("async")) return lower_reduce_async(l, i);
  const std::string_view operation = operation_of(i);
  const Type type = i.types.empty() ? Type::B32 : i.types[0];
  const Handlers handlers = find_handlers(operation, type);
  if (handlers.everybodys == nullptr)
    return l.unsupported(fmt::format("{} is not executed yet", i.spelling()));
  auto operands = std::make_unique<AtomicOperands>();
  size_t next = 0;
  if (returns) {
    const auto list = l.elements(i.operands[next++]);
    for (size_t k = 0; k < list.size() && k < 8; ++k)
      operands->d[k] = TRY(l.destination(*list[k], type));
  } else {
    std::fill(std::begin(operands->d), std::end(operands->d), kNoSlot);
  }
  const Address address = TRY(l.address(i.operands[next++], i.space));
  const auto values = l.elements(i.operands[next++]);
  if (values.size() > 8) return l.error(fmt::format("{}: more than 8 elements", i.spelling()));
  for (size_t k = 0; k < values.size(); ++k) operands->b[k] = TRY(l.source(*values[k], type));
  operands->elements = static_cast<uint32_t>(values.size());
  operands->space = address.space;
  operands->wide_address = address.wide;
  operands->resolve = find_resolver(address.space, address.wide);
  const Slot swap = operation == "cas" ? TRY(l.source(i.operands[next], type)) : kNoSlot;
  AtomicOperands* kept = l.keep(std::move(operands));
  const bool own =
      address.space == isa::Space::Shared || address.space == isa::Space::SharedCluster;
  const Watched watched = returns ? Watched::Atomic : Watched::Reduction;
  lower_watch(l, address, static_cast<uint32_t>(isa::bits(type)) / 8 * kept->elements, watched);
  Op& op = l.emit(own ? handlers.own : handlers.everybodys);
  op.a = address.slot;
  op.c = swap;
  op.immediate = address.offset;
  op.extra = static_cast<const Extra*>(kept);
  lower_watch_end(l, address, watched);
  return Done{};
}

}  // namespace

Result<Done> lower_multimem_reduction(Lowering& l, const ptx::Instruction& i) {
  return lower_atomic(l, i);
}

namespace {

constexpr Meaning kMeanings[] = {{"atom", lower_atomic}, {"red", lower_atomic}};

}  // namespace

std::span<const Meaning> atomics_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
