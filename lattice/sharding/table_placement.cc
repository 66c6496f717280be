// SPDX-License-Identifier: Apache-2.0

// Bytes on the wire, of one rank: b rows of a batch, i ids a row, width w in fp32, N ranks.
//
//   replicate     touched rows of all ranks are gathered for the update: N b i (4 w + 8)
//   table-wise    the owner sends pooled rows to all and gets gradients: 2 N b 4 w, ids N b i 8
//   column-wise   ids of all ranks are gathered, N b i 8; columns are exchanged twice: 2 b 4 w
//   row-wise      partial sums are reduced and gradients gathered: 2 N b 4 w; ids exchanged: b i 8
#include "lattice/sharding/table_placement.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace weft::lattice {
namespace {

bool possible(const Profile& profile, const TableProfile& table, Placement placement) {
  const auto ranks = static_cast<double>(profile.ranks);
  if (placement == Placement::ColumnWise)
    return table.width >= ranks && static_cast<int64_t>(table.width) % profile.ranks == 0;
  return placement != Placement::RowWise || table.rows >= ranks;
}

double seconds_of(const Profile& profile, const TableProfile& table, int64_t batch_rows,
                  Placement placement) {
  const std::vector<LinkPoint>& link =
      profile.ranks > profile.ranks_per_host ? profile.between_hosts : profile.within_host;
  const auto ranks = static_cast<double>(profile.ranks), rows = static_cast<double>(batch_rows);
  const double pooled = rows * 4 * table.width, ids = rows * table.ids_per_row * 8;
  const auto sent = [&](double bytes) { return gather_seconds(link, bytes, profile.ranks); };
  switch (placement) {
    case Placement::Replicate:
      return sent(ranks * rows * table.ids_per_row * (4 * table.width + 8));
    case Placement::TableWise:
      return 2 * sent(ranks * pooled) + sent(ranks * ids);
    case Placement::ColumnWise:
      return 2 * sent(pooled) + sent(ranks * ids);
    case Placement::RowWise:
      return 2 * sent(ranks * pooled) + sent(ids);
  }
  return 0;
}

// Table-wise ones go to the emptiest rank, the largest first.
PlacedTables loaded(const Profile& profile, int64_t batch_rows,
                    const std::vector<Placement>& placements, std::vector<double>& load) {
  PlacedTables placed{.placements = placements,
                      .owners = std::vector<int64_t>(placements.size(), -1)};
  double everywhere = 0;
  std::vector<size_t> whole;
  for (size_t i = 0; i < placements.size(); ++i) {
    const TableProfile& table = profile.tables[i];
    placed.seconds += seconds_of(profile, table, batch_rows, placements[i]);
    if (placements[i] == Placement::TableWise)
      whole.push_back(i);
    else
      everywhere +=
          bytes_of(table) /
          (placements[i] == Placement::Replicate ? 1.0 : static_cast<double>(profile.ranks));
  }
  load.assign(static_cast<size_t>(profile.ranks), everywhere);
  std::stable_sort(whole.begin(), whole.end(), [&](size_t a, size_t b) {
    return bytes_of(profile.tables[a]) > bytes_of(profile.tables[b]);
  });
  for (const size_t i : whole) {
    const auto emptiest = std::min_element(load.begin(), load.end());
    *emptiest += bytes_of(profile.tables[i]);
    placed.owners[i] = emptiest - load.begin();
  }
  placed.most_bytes = *std::max_element(load.begin(), load.end());
  return placed;
}

}  // namespace

double bytes_of(const TableProfile& table) {
  return table.rows * (table.width + 1) * 4;
}

Result<PlacedTables> place_tables(const Profile& profile, int64_t batch_rows,
                                  double available_bytes) {
  std::vector<Placement> placements;
  for (const TableProfile& table : profile.tables) {
    Placement best = Placement::Replicate;
    for (size_t p = 1; p < kPlacements; ++p) {
      const auto other = static_cast<Placement>(p);
      if (possible(profile, table, other) && seconds_of(profile, table, batch_rows, other) <
                                                 seconds_of(profile, table, batch_rows, best))
        best = other;
    }
    placements.push_back(best);
  }
  std::vector<double> load;
  PlacedTables placed = loaded(profile, batch_rows, placements, load);
  while (placed.most_bytes > available_bytes) {
    double best_price = 0;
    PlacedTables best;
    for (size_t i = 0; i < placements.size(); ++i)
      for (size_t p = 1; p < kPlacements; ++p) {
        if (!possible(profile, profile.tables[i], static_cast<Placement>(p))) continue;
        std::vector<Placement> moved = placements;
        moved[i] = static_cast<Placement>(p);
        const PlacedTables candidate = loaded(profile, batch_rows, moved, load);
        const double saved = placed.most_bytes - candidate.most_bytes;
        if (saved <= 0) continue;
        const double price = (candidate.seconds - placed.seconds) / saved;
        if (!best.placements.empty() && price >= best_price) continue;
        best_price = price;
        best = candidate;
      }
    if (best.placements.empty()) {
      const auto largest = std::max_element(
          profile.tables.begin(), profile.tables.end(),
          [](const TableProfile& a, const TableProfile& b) { return bytes_of(a) < bytes_of(b); });
      return Error(
          fmt::format("tables do not fit: the largest is {}, {:.0f} bytes; needed on one of {} "
                      "ranks {:.0f}, available {:.0f}",
                      largest->name, bytes_of(*largest), profile.ranks, placed.most_bytes,
                      std::max(0.0, available_bytes)),
          "more memory, more ranks or a smaller table");
    }
    placements = best.placements;
    placed = best;
  }
  return placed;
}

}  // namespace weft::lattice
