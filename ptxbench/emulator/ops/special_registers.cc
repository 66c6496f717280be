// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/ops/special_registers.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "ptxbench/emulator/grid.h"

namespace weft::emulator {

namespace {

template <typename T>
void fill(Warp& w, Slot d, LaneMask exec, T value) {
  T* to = w.write<T>(d);
  if (exec == kAllLanes) {
    std::fill_n(to, kLanes, value);
  } else {
    for_lanes(exec, [&](int lane) { to[lane] = value; });
  }
}

uint64_t host_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000ull + static_cast<uint64_t>(now.tv_nsec);
}

using Reader = uint64_t (*)(const Warp&);

// Value functions of registers that are the same in all lanes. Widths are the manual's.
const GridRun& grid(const Warp& w) {
  return *w.block->grid;
}
uint64_t ctaid_x(const Warp& w) {
  return w.block->index.x;
}
uint64_t ctaid_y(const Warp& w) {
  return w.block->index.y;
}
uint64_t ctaid_z(const Warp& w) {
  return w.block->index.z;
}
uint64_t ntid_x(const Warp& w) {
  return grid(w).block.x;
}
uint64_t ntid_y(const Warp& w) {
  return grid(w).block.y;
}
uint64_t ntid_z(const Warp& w) {
  return grid(w).block.z;
}
uint64_t nctaid_x(const Warp& w) {
  return grid(w).grid.x;
}
uint64_t nctaid_y(const Warp& w) {
  return grid(w).grid.y;
}
uint64_t nctaid_z(const Warp& w) {
  return grid(w).grid.z;
}
uint64_t warpid(const Warp& w) {
  return w.index;
}
uint64_t nwarpid(const Warp& w) {
  return w.block->warps.size();
}
uint64_t linear_block(const Warp& w) {
  const GridRun& g = grid(w);
  return w.block->index.x +
         uint64_t{g.grid.x} * (w.block->index.y + uint64_t{g.grid.y} * w.block->index.z);
}
uint64_t smid(const Warp& w) {
  return linear_block(w) % static_cast<uint64_t>(grid(w).machine->model().multiprocessors);
}
uint64_t nsmid(const Warp& w) {
  return static_cast<uint64_t>(grid(w).machine->model().multiprocessors);
}
uint64_t gridid(const Warp& w) {
  return grid(w).id;
}
uint64_t clock(const Warp& w) {
  return w.block->cluster->clock + w.executed;
}
uint64_t globaltimer(const Warp&) {
  return host_nanoseconds();
}
uint64_t globaltimer_hi(const Warp&) {
  return host_nanoseconds() >> 32;
}
uint64_t dynamic_shared(const Warp& w) {
  return grid(w).dynamic_shared;
}
uint64_t total_shared(const Warp& w) {
  return grid(w).shared_bytes;
}
uint64_t cluster_ctarank(const Warp& w) {
  return w.block->rank;
}
uint64_t cluster_nctarank(const Warp& w) {
  return grid(w).cluster.count();
}
uint64_t cluster_ctaid_x(const Warp& w) {
  return w.block->index.x % grid(w).cluster.x;
}
uint64_t cluster_ctaid_y(const Warp& w) {
  return w.block->index.y % grid(w).cluster.y;
}
uint64_t cluster_ctaid_z(const Warp& w) {
  return w.block->index.z % grid(w).cluster.z;
}
uint64_t cluster_nctaid_x(const Warp& w) {
  return grid(w).cluster.x;
}
uint64_t cluster_nctaid_y(const Warp& w) {
  return grid(w).cluster.y;
}
uint64_t cluster_nctaid_z(const Warp& w) {
  return grid(w).cluster.z;
}
uint64_t clusterid_x(const Warp& w) {
  return w.block->index.x / grid(w).cluster.x;
}
uint64_t clusterid_y(const Warp& w) {
  return w.block->index.y / grid(w).cluster.y;
}
uint64_t clusterid_z(const Warp& w) {
  return w.block->index.z / grid(w).cluster.z;
}
uint64_t nclusterid_x(const Warp& w) {
  return grid(w).grid.x / grid(w).cluster.x;
}
uint64_t nclusterid_y(const Warp& w) {
  return grid(w).grid.y / grid(w).cluster.y;
}
uint64_t nclusterid_z(const Warp& w) {
  return grid(w).grid.z / grid(w).cluster.z;
}
uint64_t explicit_cluster(const Warp& w) {
  return grid(w).explicit_cluster ? 1 : 0;
}
uint64_t workspace_high(const Warp& w) {
  return grid(w).cooperative_workspace >> 32;
}
uint64_t workspace_low(const Warp& w) {
  return grid(w).cooperative_workspace & 0xffffffffu;
}
uint64_t own_shared_window(const Warp& w) {
  return uint64_t{w.block->rank} << kSharedRankShift;
}
uint64_t reserved_shared_end(const Warp& w) {
  return own_shared_window(w) + grid(w).machine->model().reserved_shared_per_block;
}
uint64_t zero(const Warp&) {
  return 0;
}

struct Row {
  std::string_view name;  // with component
  int bits;
  Reader read;
};

constexpr Row kRows[] = {
    {"ctaid.x", 32, ctaid_x},
    {"ctaid.y", 32, ctaid_y},
    {"ctaid.z", 32, ctaid_z},
    {"ctaid.w", 32, zero},
    {"ntid.x", 32, ntid_x},
    {"ntid.y", 32, ntid_y},
    {"ntid.z", 32, ntid_z},
    {"ntid.w", 32, zero},
    {"nctaid.x", 32, nctaid_x},
    {"nctaid.y", 32, nctaid_y},
    {"nctaid.z", 32, nctaid_z},
    {"nctaid.w", 32, zero},
    {"warpid", 32, warpid},
    {"nwarpid", 32, nwarpid},
    {"smid", 32, smid},
    {"nsmid", 32, nsmid},
    {"gridid", 64, gridid},
    {"clock", 32, clock},
    {"clock_hi", 32, zero},
    {"clock64", 64, clock},
    {"globaltimer", 64, globaltimer},
    {"globaltimer_lo", 32, globaltimer},
    {"globaltimer_hi", 32, globaltimer_hi},
    {"dynamic_smem_size", 32, dynamic_shared},
    {"total_smem_size", 32, total_shared},
    {"aggr_smem_size", 32, total_shared},
    {"cluster_ctarank", 32, cluster_ctarank},
    {"cluster_nctarank", 32, cluster_nctarank},
    {"cluster_ctaid.x", 32, cluster_ctaid_x},
    {"cluster_ctaid.y", 32, cluster_ctaid_y},
    {"cluster_ctaid.z", 32, cluster_ctaid_z},
    {"cluster_nctaid.x", 32, cluster_nctaid_x},
    {"cluster_nctaid.y", 32, cluster_nctaid_y},
    {"cluster_nctaid.z", 32, cluster_nctaid_z},
    {"clusterid.x", 32, clusterid_x},
    {"clusterid.y", 32, clusterid_y},
    {"clusterid.z", 32, clusterid_z},
    {"nclusterid.x", 32, nclusterid_x},
    {"nclusterid.y", 32, nclusterid_y},
    {"nclusterid.z", 32, nclusterid_z},
    {"is_explicit_cluster", 1, explicit_cluster},
    // The driver's grid workspace of cooperative launches: its address, high half first.
    {"envreg1", 32, workspace_high},
    {"envreg2", 32, workspace_low},
    {"envreg0", 32, zero},
    {"reserved_smem_offset_begin", 32, own_shared_window},
    {"reserved_smem_offset_end", 32, reserved_shared_end},
    {"reserved_smem_offset_cap", 32, reserved_shared_end},
    {"reserved_smem_offset_0", 32, own_shared_window},
    {"reserved_smem_offset_1", 32, own_shared_window},
    {"current_graph_exec", 64, zero},
};

Outcome read_uniform(Warp& w, const Op& op, LaneMask exec) {
  const uint64_t value = reinterpret_cast<Reader>(const_cast<void*>(op.extra))(w);
  switch (op.small) {
    case 1:
      merge_predicate(exec, w.predicate(op.d), value != 0 ? kAllLanes : 0);
      break;
    case 32:
      fill<uint32_t>(w, op.d, exec, static_cast<uint32_t>(value));
      break;
    default:
      fill<uint64_t>(w, op.d, exec, value);
      break;
  }
  return Outcome::Next;
}

Outcome read_thread_index(Warp& w, const Op& op, LaneMask exec) {
  const uint32_t* table = w.block->grid->thread_index(w.index, static_cast<uint32_t>(op.immediate));
  merge_lanes(exec, w.write<uint32_t>(op.d), table);
  return Outcome::Next;
}

std::string full_name(const ptx::SpecialRegister& special) {
  std::string name(special.name);
  switch (special.component) {
    case ptx::Component::Whole:
      break;
    case ptx::Component::X:
      name += ".x";
      break;
    case ptx::Component::Y:
      name += ".y";
      break;
    case ptx::Component::Z:
      name += ".z";
      break;
    case ptx::Component::W:
      name += ".w";
      break;
  }
  return name;
}

template <typename T>
Outcome widen(Warp& w, const Op& op, LaneMask exec) {
  each_lane(
      exec, [](T v) { return static_cast<uint64_t>(v); }, w.write<uint64_t>(op.d), w.read<T>(op.a));
  return Outcome::Next;
}
Outcome narrow_to_half(Warp& w, const Op& op, LaneMask exec) {
  each_lane(
      exec, [](uint32_t v) { return static_cast<uint16_t>(v); }, w.write<uint16_t>(op.d),
      w.read<uint32_t>(op.a));
  return Outcome::Next;
}
Outcome narrow_to_word(Warp& w, const Op& op, LaneMask exec) {
  each_lane(
      exec, [](uint64_t v) { return static_cast<uint32_t>(v); }, w.write<uint32_t>(op.d),
      w.read<uint64_t>(op.a));
  return Outcome::Next;
}

// Old code reads %tid.x into 16-bit registers and %clock64 into 32-bit ones: the low bits move.
Lowering::Sized fit(Lowering& lowering, Lowering::Sized from, int bits) {
  if (from.bits == bits || bits == 1 || from.bits == 1) return from;
  Handler handler = nullptr;
  if (from.bits == 32 && bits == 64) handler = widen<uint32_t>;
  if (from.bits == 32 && bits == 16) handler = narrow_to_half;
  if (from.bits == 64 && bits == 32) handler = narrow_to_word;
  if (handler == nullptr) return from;
  Op& op = lowering.emit(handler);
  op.guard = kNoSlot;
  op.a = from.slot;
  op.d = lowering.scratch(bits);
  return {op.d, bits};
}

template <SymbolBase kBase, typename T>
Outcome symbol_address(Warp& w, const Op& op, LaneMask exec) {
  uint64_t value = static_cast<uint64_t>(op.immediate);
  const GridRun& g = *w.block->grid;
  if constexpr (kBase == SymbolBase::Shared) value += uint64_t{w.block->rank} << kSharedRankShift;
  if constexpr (kBase == SymbolBase::DynamicShared)
    value += (uint64_t{w.block->rank} << kSharedRankShift) + g.dynamic_shared_offset;
  if constexpr (kBase == SymbolBase::Frame) value += w.frame->local_base;
  if constexpr (kBase == SymbolBase::KernelParameters)
    value += reinterpret_cast<uint64_t>(g.parameters.data());
  fill<T>(w, op.d, exec, static_cast<T>(value));
  return Outcome::Next;
}

template <SymbolBase kBase>
Handler address_handler(bool wide) {
  return wide ? symbol_address<kBase, uint64_t> : symbol_address<kBase, uint32_t>;
}

}  // namespace

Result<Lowering::Sized> read_special_register(Lowering& lowering,
                                              const ptx::SpecialRegister& special, int bits) {
  const std::string name = full_name(special);
  uint32_t lanes[kLanes];
  auto per_lane = [&](auto value) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane] = value(lane);
    return fit(lowering, {lowering.pool(lanes, sizeof lanes), 32}, bits);
  };
  if (name == "laneid") return per_lane([](uint32_t lane) { return lane; });
  if (name == "lanemask_eq") return per_lane([](uint32_t lane) { return 1u << lane; });
  if (name == "lanemask_lt") return per_lane([](uint32_t lane) { return (1u << lane) - 1; });
  if (name == "lanemask_le") return per_lane([](uint32_t lane) { return (2u << lane) - 1; });
  if (name == "lanemask_gt") return per_lane([](uint32_t lane) { return ~((2u << lane) - 1); });
  if (name == "lanemask_ge") return per_lane([](uint32_t lane) { return ~((1u << lane) - 1); });
  if (name == "tid.w") return per_lane([](uint32_t) { return 0u; });
  if (name == "tid.x" || name == "tid.y" || name == "tid.z") {
    Op& op = lowering.emit(read_thread_index);
    op.guard = kNoSlot;
    op.immediate = name.back() - 'x';
    op.d = lowering.scratch(32);
    return fit(lowering, {op.d, 32}, bits);
  }
  Reader reader = nullptr;
  int width = 32;
  for (const Row& row : kRows)
    if (row.name == name) {
      reader = row.read;
      width = row.bits;
    }
  // The remaining environment registers and the performance counters read as zero: no driver sets
  // them.
  if (name.starts_with("envreg") && reader == nullptr) reader = zero;
  if (name.starts_with("pm") && reader == nullptr) {
    reader = zero;
    width = name.ends_with("_64") ? 64 : 32;
  }
  if (reader == nullptr)
    return lowering.error(fmt::format("special register %{} is not known", name));
  Op& op = lowering.emit(read_uniform);
  op.guard = kNoSlot;
  op.small = static_cast<uint32_t>(width);
  op.d = lowering.scratch(width);
  op.extra = reinterpret_cast<const void*>(reader);
  return fit(lowering, {op.d, width}, bits);
}

Handler symbol_address_handler(SymbolBase base, bool wide) {
  switch (base) {
    case SymbolBase::Shared:
      return address_handler<SymbolBase::Shared>(wide);
    case SymbolBase::DynamicShared:
      return address_handler<SymbolBase::DynamicShared>(wide);
    case SymbolBase::Frame:
      return address_handler<SymbolBase::Frame>(wide);
    case SymbolBase::KernelParameters:
      return address_handler<SymbolBase::KernelParameters>(wide);
  }
  return nullptr;
}

}  // namespace weft::emulator
