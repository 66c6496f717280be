// SPDX-License-Identifier: Apache-2.0

#include "lattice/training/time_range.h"

#include <algorithm>

namespace weft::lattice {

int64_t known_at(const Batch& batch, size_t row, const std::vector<double>& windows) {
  constexpr double kSecond = 1e6;
  const int64_t time = batch.time[row];
  if (windows.empty() || batch.window.empty()) return time;
  return time + static_cast<int64_t>(windows[batch.window[row]] * kSecond);
}

std::optional<int64_t> newest_known(const BatchSource& source, const ShardIndex& schema) {
  std::optional<int64_t> newest;
  Batch batch;
  for (Batches next = source.pass({.order = RowOrder::AsWritten}); next(batch);) {
    if (batch.time.empty()) return std::nullopt;
    for (size_t row = 0; row < batch.rows; ++row)
      newest = std::max(newest.value_or(INT64_MIN), known_at(batch, row, schema.windows));
  }
  return newest;
}

Result<std::unique_ptr<BatchSource>> RangeSource::create(std::unique_ptr<BatchSource> inner,
                                                         const ShardIndex& schema,
                                                         const TimeRange& range) {
  std::unique_ptr<RangeSource> made(new RangeSource(std::move(inner), schema.windows, range));
  Batch batch;
  for (Batches next = made->inner_->pass({.order = RowOrder::AsWritten}); next(batch);) {
    if (batch.time.size() != batch.rows)
      return Error("the data has no times: from and until mean nothing for it",
                   "name the column time in the data's section and ingest again");
    for (size_t row = 0; row < batch.rows; ++row)
      made->rows_ += range.holds(known_at(batch, row, schema.windows)) ? 1 : 0;
  }
  if (made->rows_ == 0)
    return Error("no row of a split was known between from and until",
                 "widen the range, or for the validation choose another split or none");
  return std::unique_ptr<BatchSource>(std::move(made));
}

Batches RangeSource::pass(const ReaderOptions& options) const {
  return rows_where(
      inner_->pass(options),
      [this](const Batch& batch, size_t row) {
        return range_.holds(known_at(batch, row, windows_));
      },
      options.batch_rows);
}

}  // namespace weft::lattice
