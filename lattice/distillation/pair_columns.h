// SPDX-License-Identifier: Apache-2.0

// Which (user, item) pair a row is, the same for the teacher that writes and the student that
// reads: the row numbers of two categorical columns. They mean something within one schema only,
// whose vocabularies they come from, so a store's description names it. Padding, null and unknown
// values are nobody: such a row has no pair, is not taught and misses.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "lattice/data/reader.h"
#include "lattice/distillation/teacher_store.h"

namespace weft::lattice {

class PairColumns {
 public:
  // An error when the data has no such column.
  static Result<PairColumns> create(const ShardIndex& schema, const std::string& user,
                                    const std::string& item);

  std::optional<Pair> pair(const Batch& batch, uint64_t row) const;
  // For TeacherDescription::pairs.
  const std::string& what() const { return what_; }

 private:
  struct Column {
    size_t table;
    int32_t first_known;
  };
  PairColumns(Column user, Column item, std::string what)
      : user_(user), item_(item), what_(std::move(what)) {}

  Column user_, item_;
  std::string what_;
};

}  // namespace weft::lattice
