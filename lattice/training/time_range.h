// SPDX-License-Identifier: Apache-2.0

// Trainings that see a part of the time: a teacher that stops before its student begins.
#pragma once

#include <optional>

#include "lattice/data/shard_index.h"
#include "lattice/training/batch_source.h"

namespace weft::lattice {

// Moments in microseconds; `from` belongs to it, `until` does not.
struct TimeRange {
  int64_t from = INT64_MIN, until = INT64_MAX;
  bool everything() const { return from == INT64_MIN && until == INT64_MAX; }
  bool holds(int64_t time) const { return time >= from && time < until; }
};

// Rows of another source whose labels were known inside the range. An error when there are none, or
// no times.
class RangeSource : public BatchSource {
 public:
  static Result<std::unique_ptr<BatchSource>> create(std::unique_ptr<BatchSource> inner,
                                                     const ShardIndex& schema,
                                                     const TimeRange& range);
  uint64_t rows() const override { return rows_; }
  Batches pass(const ReaderOptions& options) const override;

 private:
  RangeSource(std::unique_ptr<BatchSource> inner, std::vector<double> windows, TimeRange range)
      : inner_(std::move(inner)), windows_(std::move(windows)), range_(range) {}

  std::unique_ptr<BatchSource> inner_;
  std::vector<double> windows_;
  TimeRange range_;
  uint64_t rows_ = 0;
};

// When what a row says was known: its moment, and the end of its window where labels have windows.
int64_t known_at(const Batch& batch, size_t row, const std::vector<double>& windows);
// The newest of a source; none without times.
std::optional<int64_t> newest_known(const BatchSource& source, const ShardIndex& schema);

}  // namespace weft::lattice
