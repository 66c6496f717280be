// SPDX-License-Identifier: Apache-2.0

// Where a pass over rows comes from: shards on disk, or a batch in memory. The same pass number and
// seed give the same batches, so that a training that goes on where it stopped sees what it would
// have seen.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "lattice/data/reader.h"

namespace weft::lattice {

// One pass over rows: false when it is over.
using Batches = std::function<bool(Batch&)>;

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual uint64_t rows() const = 0;
  virtual Batches pass(const ReaderOptions& options) const = 0;
};

class ShardSource : public BatchSource {
 public:
  static Result<std::unique_ptr<BatchSource>> open(const std::string& folder,
                                                   const std::string& split);
  uint64_t rows() const override { return set_.rows(); }
  Batches pass(const ReaderOptions& options) const override;

 private:
  explicit ShardSource(ShardSet set) : set_(std::move(set)) {}
  ShardSet set_;
};

class MemorySource : public BatchSource {
 public:
  explicit MemorySource(Batch all) : all_(std::move(all)) {}
  uint64_t rows() const override { return all_.rows; }
  Batches pass(const ReaderOptions& options) const override;
  const Batch& all() const { return all_; }

 private:
  Batch all_;
};

// Only the rows that are wanted, or those of one domain, in batches at least as large as asked for
// (but the last).
Batches rows_where(Batches pass, std::function<bool(const Batch&, size_t row)> wanted,
                   uint64_t batch_rows);
Batches of_domain(Batches pass, int32_t domain, uint64_t batch_rows);

}  // namespace weft::lattice
