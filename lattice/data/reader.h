// SPDX-License-Identifier: Apache-2.0

// Training shards back as batches, shuffled and made ahead by workers of its own. The same seed
// gives the same batches for any number of workers.
//
// Shards are taken in a random order, some at a time; rows are shuffled among those. Shards are
// mapped, so memory holds batches and what the system keeps of the files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/safetensors.h"
#include "lattice/data/shard_index.h"

namespace weft::lattice {

// Columns are in the order of the index, which has their names.
struct Batch {
  uint64_t rows = 0;
  std::vector<int32_t> categorical;  // [tables, rows]
  std::vector<float> dense;          // [rows, columns]
  std::vector<uint8_t> dense_present;
  std::vector<float> label;  // [rows, labels]
  std::vector<uint8_t> label_known;
  std::vector<int32_t> domain;            // [rows], or empty
  std::vector<uint8_t> window;            // [rows], or empty
  std::vector<uint64_t> id;               // [rows], or empty
  std::vector<int64_t> time;              // [rows], microseconds UTC, or empty
  std::vector<int64_t> sequence_offsets;  // [rows + 1], or empty
  std::vector<int32_t> sequence;          // [columns, events]
  std::vector<float> sequence_age;        // [events]

  // What a teacher's store had for the rows (lattice/distillation/student_view.h); not of shards.
  std::vector<float> teacher;        // [rows, width], clipped; zeros on a miss
  std::vector<float> teacher_logit;  // [rows, tasks of the teacher]; zeros on a miss
  std::vector<uint8_t> teacher_hit;  // [rows], or empty
};

// ByTime: oldest first over all shards; rows of one moment in the order they were written.
enum class RowOrder : uint8_t { Shuffled, AsWritten, ByTime };

struct ReaderOptions {
  uint64_t batch_rows = 4096;
  RowOrder order = RowOrder::Shuffled;
  uint64_t seed = 1;
  size_t shards_at_once = 8;
  unsigned workers = 2;
  size_t ahead = 8;  // batches made before they are asked for
};

// The shards of one split, checked against the index: a shard that was cut or replaced is an error.
class ShardSet {
 public:
  static Result<ShardSet> open(const std::string& folder, const std::string& split);
  // Several splits as one.
  static Result<ShardSet> open(const std::string& folder, const std::vector<std::string>& splits);
  uint64_t rows() const { return rows_; }
  const ShardIndex& index() const { return index_; }
  // The first and the last moment; none without times.
  std::optional<std::pair<int64_t, int64_t>> time_range() const;

 private:
  friend class BatchStream;
  struct Shard {
    std::string file;
    uint64_t rows;
    Safetensors content;
  };
  ShardIndex index_;
  std::vector<Shard> shards_;
  uint64_t rows_ = 0;
};

// One pass over a split. The set must outlive it.
class BatchStream {
 public:
  BatchStream(const ShardSet& set, const ReaderOptions& options);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // False when the pass is over. The last batch may be smaller.
  bool next(Batch& batch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::lattice
