// SPDX-License-Identifier: Apache-2.0

#include "lattice/distillation/pair_columns.h"

#include <fmt/format.h>

namespace weft::lattice {

Result<PairColumns> PairColumns::create(const ShardIndex& schema, const std::string& user,
                                        const std::string& item) {
  const auto find = [&](const std::string& name) -> Result<Column> {
    std::string names;
    for (size_t t = 0; t < schema.tables.size(); ++t) {
      const ShardIndex::Table& table = schema.tables[t];
      if (table.name == name) return Column{t, static_cast<int32_t>(table.first_known)};
      names += (names.empty() ? "" : ", ") + table.name;
    }
    return Error("the data has no categorical column for pairs: " + name,
                 "name them with user and item; there are: " + names);
  };
  const Column of_user = TRY(find(user)), of_item = TRY(find(item));
  return PairColumns(of_user, of_item,
                     fmt::format("{}, {} of schema {}", user, item, schema.schema.substr(0, 16)));
}

std::optional<Pair> PairColumns::pair(const Batch& batch, uint64_t row) const {
  const int32_t user = batch.categorical[user_.table * batch.rows + row];
  const int32_t item = batch.categorical[item_.table * batch.rows + row];
  if (user < user_.first_known || item < item_.first_known) return std::nullopt;
  return Pair{static_cast<uint64_t>(user), static_cast<uint64_t>(item)};
}

}  // namespace weft::lattice
