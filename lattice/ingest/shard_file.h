// SPDX-License-Identifier: Apache-2.0

// The rows of one training shard on their way into a file; shard_index.h has the layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::lattice {

struct ShardRows {
  size_t rows = 0;
  std::vector<std::vector<int32_t>> categorical;
  std::vector<float> dense, label, sequence_age;
  std::vector<uint8_t> dense_present, label_known, window;
  std::vector<int32_t> domain;
  std::vector<uint64_t> id;
  std::vector<int64_t> time, sequence_offsets = {0};
  std::vector<std::vector<int32_t>> sequence;  // none: no sequences
};

// Widths are those of the columns; a column of rows that is empty is left out.
Result<Done> write_shard(const std::string& path, const ShardRows& shard);

}  // namespace weft::lattice
