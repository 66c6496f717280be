// SPDX-License-Identifier: Apache-2.0

// The table of special registers.
#include "ptxbench/isa/special_registers.h"

#include <unordered_map>

namespace weft::isa {
namespace {

constexpr SpecialRegisterInfo kRegisters[] = {
    {"tid", Type::U32, true, 10},
    {"ntid", Type::U32, true, 10},
    {"laneid", Type::U32, false, 13},
    {"warpid", Type::U32, false, 13},
    {"nwarpid", Type::U32, false, 20},
    {"ctaid", Type::U32, true, 10},
    {"nctaid", Type::U32, true, 10},
    {"smid", Type::U32, false, 13},
    {"nsmid", Type::U32, false, 20},
    {"gridid", Type::U64, false, 10},
    {"is_explicit_cluster", Type::Pred, false, 78},
    {"clusterid", Type::U32, true, 78},
    {"nclusterid", Type::U32, true, 78},
    {"cluster_ctaid", Type::U32, true, 78},
    {"cluster_nctaid", Type::U32, true, 78},
    {"cluster_ctarank", Type::U32, false, 78},
    {"cluster_nctarank", Type::U32, false, 78},
    {"lanemask_eq", Type::U32, false, 20},
    {"lanemask_le", Type::U32, false, 20},
    {"lanemask_lt", Type::U32, false, 20},
    {"lanemask_ge", Type::U32, false, 20},
    {"lanemask_gt", Type::U32, false, 20},
    {"clock", Type::U32, false, 10},
    {"clock_hi", Type::U32, false, 50},
    {"clock64", Type::U64, false, 20},
    {"pm0", Type::U32, false, 13},
    {"pm1", Type::U32, false, 13},
    {"pm2", Type::U32, false, 13},
    {"pm3", Type::U32, false, 13},
    {"pm4", Type::U32, false, 13},
    {"pm5", Type::U32, false, 13},
    {"pm6", Type::U32, false, 13},
    {"pm7", Type::U32, false, 13},
    {"pm0_64", Type::U64, false, 40},
    {"pm1_64", Type::U64, false, 40},
    {"pm2_64", Type::U64, false, 40},
    {"pm3_64", Type::U64, false, 40},
    {"pm4_64", Type::U64, false, 40},
    {"pm5_64", Type::U64, false, 40},
    {"pm6_64", Type::U64, false, 40},
    {"pm7_64", Type::U64, false, 40},
    {"envreg0", Type::B32, false, 21},
    {"envreg1", Type::B32, false, 21},
    {"envreg2", Type::B32, false, 21},
    {"envreg3", Type::B32, false, 21},
    {"envreg4", Type::B32, false, 21},
    {"envreg5", Type::B32, false, 21},
    {"envreg6", Type::B32, false, 21},
    {"envreg7", Type::B32, false, 21},
    {"envreg8", Type::B32, false, 21},
    {"envreg9", Type::B32, false, 21},
    {"envreg10", Type::B32, false, 21},
    {"envreg11", Type::B32, false, 21},
    {"envreg12", Type::B32, false, 21},
    {"envreg13", Type::B32, false, 21},
    {"envreg14", Type::B32, false, 21},
    {"envreg15", Type::B32, false, 21},
    {"envreg16", Type::B32, false, 21},
    {"envreg17", Type::B32, false, 21},
    {"envreg18", Type::B32, false, 21},
    {"envreg19", Type::B32, false, 21},
    {"envreg20", Type::B32, false, 21},
    {"envreg21", Type::B32, false, 21},
    {"envreg22", Type::B32, false, 21},
    {"envreg23", Type::B32, false, 21},
    {"envreg24", Type::B32, false, 21},
    {"envreg25", Type::B32, false, 21},
    {"envreg26", Type::B32, false, 21},
    {"envreg27", Type::B32, false, 21},
    {"envreg28", Type::B32, false, 21},
    {"envreg29", Type::B32, false, 21},
    {"envreg30", Type::B32, false, 21},
    {"envreg31", Type::B32, false, 21},
    {"globaltimer", Type::U64, false, 31},
    {"globaltimer_lo", Type::U32, false, 31},
    {"globaltimer_hi", Type::U32, false, 31},
    {"reserved_smem_offset_begin", Type::B32, false, 76},
    {"reserved_smem_offset_end", Type::B32, false, 76},
    {"reserved_smem_offset_cap", Type::B32, false, 76},
    {"reserved_smem_offset_0", Type::B32, false, 76},
    {"reserved_smem_offset_1", Type::B32, false, 76},
    {"total_smem_size", Type::U32, false, 41},
    {"aggr_smem_size", Type::U32, false, 81},
    {"dynamic_smem_size", Type::U32, false, 41},
    {"current_graph_exec", Type::U64, false, 80},
};

}  // namespace

std::span<const SpecialRegisterInfo> special_registers() {
  return kRegisters;
}

const SpecialRegisterInfo* find_special_register(std::string_view name) {
  static const auto* index = [] {
    auto* map = new std::unordered_map<std::string_view, const SpecialRegisterInfo*>;
    for (const SpecialRegisterInfo& row : kRegisters) map->emplace(row.name, &row);
    return map;
  }();
  const auto found = index->find(name);
  return found == index->end() ? nullptr : found->second;
}

}  // namespace weft::isa
