// SPDX-License-Identifier: Apache-2.0

// What users did, as it was known at any moment. An event belongs to the past of an impression when
// it happened before it and its report had arrived by then: back-filled rows must not train a model
// that could not have seen them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "lattice/ingest/dataset.h"
#include "lattice/ingest/source.h"

namespace weft::lattice {

class History {
 public:
  // Reads the whole table; `columns` texts an event, encoded by the caller's function.
  using Encode = int32_t (*)(const void* vocabularies, size_t column, std::string_view value,
                             bool null);
  static Result<History> read(table::Database& database, const std::string& base,
                              const SequenceTable& table, const DataConfiguration& data,
                              Encode encode, const void* vocabularies);

  // The last `length` events of the user before `time` that had arrived, oldest first, as numbers
  // of events. Of two at one instant the larger id is the later; one at the impression's own
  // instant is not before it.
  void before(std::string_view user, int64_t time, size_t length,
              std::vector<uint64_t>& events) const;

  int64_t time(uint64_t event) const { return times_[event]; }
  int32_t code(uint64_t event, size_t column) const { return codes_[event * columns_ + column]; }
  uint64_t size() const { return times_.size(); }

 private:
  struct Range {
    uint64_t begin, end;
  };
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  size_t columns_ = 0;
  std::unordered_map<std::string, Range, TextHash, std::equal_to<>> users_;
  std::vector<int64_t> times_, arrivals_;  // by user, time, id
  std::vector<int32_t> codes_;
};

}  // namespace weft::lattice
