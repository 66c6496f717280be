// SPDX-License-Identifier: Apache-2.0

#include "lattice/ingest/training_facts.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/table/sql_text.h"

namespace weft::lattice {

using table::Chunk;
using table::quoted_name;
using table::Rows;

Result<std::vector<CountedVocabulary>> count_vocabularies(table::Database& database,
                                                          const DataConfiguration& c,
                                                          const Split& train) {
  std::vector<CountedVocabulary> all_columns;
  for (const CategoricalColumn& column : c.categorical) {
    const std::string name = quoted_name(column.name);
    Result<Rows> rows =
        database.query(fmt::format("SELECT {0}, count(*)::UBIGINT FROM ({1}) WHERE {0} IS NOT "
                                   "NULL GROUP BY {0} ORDER BY count(*) DESC, {0}",
                                   name, train.query));
    if (!rows.ok()) return train.source.locate(rows.error());
    std::vector<std::pair<std::string, uint64_t>> values;
    uint64_t all = 0, kept = 0, distinct = 0;
    Chunk chunk;
    for (;;) {
      const Result<bool> more = rows->next(chunk);
      if (!more.ok()) return train.source.locate(more.error());
      if (!*more) break;
      for (size_t r = 0; r < chunk.size(); ++r) {
        const uint64_t count = chunk.unsigneds(1)[r];
        all += count;
        ++distinct;
        if (count < column.least_count || values.size() == column.most) continue;
        kept += count;
        values.emplace_back(chunk.text(0, r), count);
      }
    }
    const double unknown = all == 0 ? 0 : 1 - static_cast<double>(kept) / static_cast<double>(all);
    if (unknown > column.most_unknown)
      return Error(
          Diagnostic{.message = fmt::format("column \"{}\": the vocabulary is too small: {} of {} "
                                            "values leave {:.1f} % of the rows unknown",
                                            column.name, values.size(), distinct, 100 * unknown),
                     .hint = "raise most, lower least_count, or allow it with most_unknown",
                     .file = train.source.paths().front()});
    all_columns.push_back({Vocabulary(column, std::move(values)), distinct, unknown});
  }
  return all_columns;
}

Result<std::vector<std::string>> find_domains(table::Database& database, const DataConfiguration& c,
                                              const Split& train) {
  std::vector<std::string> domains;
  if (c.domain.empty()) return domains;
  Result<Rows> rows =
      database.query(fmt::format("SELECT DISTINCT {0} FROM ({1}) WHERE {0} IS NOT NULL ORDER BY 1",
                                 quoted_name(c.domain), train.query));
  if (!rows.ok()) return train.source.locate(rows.error());
  Chunk chunk;
  while (TRY(rows->next(chunk)))
    for (size_t r = 0; r < chunk.size(); ++r) domains.emplace_back(chunk.text(0, r));
  return domains;
}

Result<std::vector<DenseStatistics>> measure_dense(table::Database& database,
                                                   const DataConfiguration& c, const Split& train,
                                                   unsigned workers) {
  std::vector<DenseStatistics> all;
  if (c.dense.empty()) return all;
  std::string wanted;
  for (const DenseColumn& column : c.dense) {
    const std::string name = quoted_name(column.name);
    // greatest() leaves nulls out instead of passing them on.
    const std::string bounded = fmt::format(
        "CASE WHEN {0} IS NOT NULL THEN least(greatest({0}, {1}::DOUBLE), {2}::DOUBLE) END", name,
        column.from, column.to);
    const std::string value =
        column.transform == Transform::Log1p ? fmt::format("ln(1 + {})", bounded) : bounded;
    // Infinities are bounded, but they are no values: count them apart.
    wanted += fmt::format(
        "{0}avg({1}), stddev_pop({1}), count({2}), count(*) FILTER ({2} < {3}::DOUBLE OR {2} > "
        "{4}::DOUBLE), count(*) FILTER (NOT isfinite({2}))",
        wanted.empty() ? "" : ", ", value, name, column.from, column.to);
  }
  TRY(database.execute("SET threads = 1"));
  const auto row = database.row(fmt::format("SELECT {} FROM ({})", wanted, train.query));
  if (!row.ok()) return train.source.locate(row.error());
  TRY(database.execute("RESET threads"));
  if (workers != 0) TRY(database.execute(fmt::format("SET threads = {}", workers)));
  for (size_t i = 0; i < c.dense.size(); ++i) {
    const std::string* cell = row->data() + i * 5;
    if (cell[4] != "0") return train.source.locate(Error("a value that is not finite"));
    DenseStatistics statistics;
    statistics.values = std::strtoull(cell[2].c_str(), nullptr, 10);
    statistics.outside = std::strtoull(cell[3].c_str(), nullptr, 10);
    if (c.dense[i].standardize && statistics.values != 0) {
      statistics.mean = std::strtof(cell[0].c_str(), nullptr);
      const float deviation = std::strtof(cell[1].c_str(), nullptr);
      if (deviation > 0) statistics.scale = 1 / deviation;
    }
    all.push_back(statistics);
  }
  return all;
}

}  // namespace weft::lattice
