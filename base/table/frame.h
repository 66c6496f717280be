// SPDX-License-Identifier: Apache-2.0

// Columns that a program fills itself, row numbers known beforehand, and writes as one Parquet
// file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/table/database.h"

namespace weft::table {

enum class FrameType : uint8_t { Integer, Timestamp, Unsigned, Real, Byte, Text };

struct FrameColumn {
  std::string name;
  FrameType type = FrameType::Real;
  std::vector<int64_t> integers;  // Integer, Timestamp (microseconds UTC)
  std::vector<uint64_t> unsigneds;
  std::vector<float> reals;
  std::vector<uint8_t> bytes;
  std::vector<std::string_view> texts;  // point to what outlives the frame
  std::vector<uint8_t> valid;           // empty: no nulls
};

enum class Nulls : uint8_t { Never, Possible };

class Frame {
 public:
  explicit Frame(size_t rows) : rows_(rows) {}

  size_t rows() const { return rows_; }
  // Values start as zero; with Nulls::Possible every row starts as null.
  size_t add(std::string name, FrameType type, Nulls nulls = Nulls::Never);
  FrameColumn& operator[](size_t column) { return columns_[column]; }
  const FrameColumn& operator[](size_t column) const { return columns_[column]; }

  Result<Done> write_parquet(const std::string& path) const;

 private:
  size_t rows_;
  std::vector<FrameColumn> columns_;
};

}  // namespace weft::table
