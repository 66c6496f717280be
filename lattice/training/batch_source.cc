// SPDX-License-Identifier: Apache-2.0

#include "lattice/training/batch_source.h"

#include <algorithm>
#include <numeric>

#include "base/mix.h"
#include "lattice/training/batch_rows.h"

namespace weft::lattice {

Result<std::unique_ptr<BatchSource>> ShardSource::open(const std::string& folder,
                                                       const std::string& split) {
  ShardSet set = TRY(ShardSet::open(folder, split));
  return std::unique_ptr<BatchSource>(new ShardSource(std::move(set)));
}

Batches ShardSource::pass(const ReaderOptions& options) const {
  const auto stream = std::make_shared<BatchStream>(set_, options);
  return [stream](Batch& batch) { return stream->next(batch); };
}

Batches MemorySource::pass(const ReaderOptions& options) const {
  std::vector<uint32_t> order(all_.rows);
  std::iota(order.begin(), order.end(), 0u);
  if (options.order == RowOrder::Shuffled)
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[mix(options.seed, i) % i]);
  if (options.order == RowOrder::ByTime && !all_.time.empty())
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return all_.time[a] < all_.time[b]; });
  return [this, order = std::move(order), at = size_t{0},
          count = options.batch_rows](Batch& batch) mutable {
    if (at == order.size()) return false;
    const size_t rows = std::min<size_t>(count, order.size() - at);
    batch = take_rows(all_, std::span(order).subspan(at, rows));
    at += rows;
    return true;
  };
}

Batches of_domain(Batches pass, int32_t domain, uint64_t batch_rows) {
  return rows_where(
      std::move(pass),
      [domain](const Batch& batch, size_t row) { return batch.domain[row] == domain; }, batch_rows);
}

Batches rows_where(Batches pass, std::function<bool(const Batch&, size_t row)> wanted,
                   uint64_t batch_rows) {
  return [pass = std::move(pass), wanted = std::move(wanted), batch_rows](Batch& batch) {
    std::vector<Batch> parts;
    uint64_t rows = 0;
    Batch part;
    while (rows < batch_rows && pass(part)) {
      std::vector<uint32_t> kept;
      for (uint32_t row = 0; row < part.rows; ++row)
        if (wanted(part, row)) kept.push_back(row);
      rows += kept.size();
      parts.push_back(take_rows(part, kept));
    }
    if (rows == 0) return false;
    batch = join(parts);
    return true;
  };
}

}  // namespace weft::lattice
