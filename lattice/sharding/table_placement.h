// SPDX-License-Identifier: Apache-2.0

// Where embedding tables lie. Each starts where it costs the least time; while a rank holds too
// much, the table that saves bytes of the fullest rank for the least time moves. A heuristic,
// unlike the plan of the blocks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "lattice/sharding/profile.h"

namespace weft::lattice {

enum class Placement : uint8_t { Replicate, TableWise, ColumnWise, RowWise };
constexpr size_t kPlacements = 4;
constexpr std::array<const char*, kPlacements> kPlacementWords = {"replicate", "table_wise",
                                                                  "column_wise", "row_wise"};

struct PlacedTables {
  std::vector<Placement> placements;
  std::vector<int64_t> owners;  // of table-wise ones; else -1
  double most_bytes = 0;        // of the fullest rank
  double seconds = 0;           // of all exchanges, forward and backward
};

// Weights and one Adagrad sum a row, fp32.
double bytes_of(const TableProfile& table);
// An error names the table that cannot be held, bytes needed and available.
Result<PlacedTables> place_tables(const Profile& profile, int64_t batch_rows,
                                  double available_bytes);

}  // namespace weft::lattice
