// SPDX-License-Identifier: Apache-2.0

// What a folder of training shards holds, from its index.json: enough to build a network without
// looking at a shard. A shard of n rows has these tensors (those of columns that there are):
//
//   categorical        I32 [tables, n]        row numbers of the tables of embeddings
//   dense              F32 [n, columns]       standardized; 0 where there is no value
//   dense_present      U8  [n, columns]
//   label              F32 [n, labels]
//   label_known        U8  [n, labels]        0: the label means nothing
//   domain             I32 [n]
//   window             U8  [n]                which window the labels were taken under
//   id                 U64 [n]
//   time               I64 [n]                microseconds UTC
//   sequence_offsets   I64 [n + 1]
//   sequence           I32 [columns, events]  oldest first, row numbers of the shared tables
//   sequence_age       F32 [events]           seconds before the row
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::lattice {

// Row numbers of every table: 0 padding | 1 null | unknown values by their hash | the vocabulary.
constexpr int32_t kPadding = 0, kNull = 1, kFirstUnknown = 2;

struct ShardIndex {
  struct Table {
    std::string name;
    uint64_t rows = 0;                     // row numbers are below it
    uint64_t first_known = kFirstUnknown;  // from here on a row number is one value's
  };
  struct Label {
    std::string name;
    bool windowed = false;  // taken under the row's window; otherwise the same for all windows
  };
  struct Sequence {
    std::string name;
    size_t table = 0;  // whose row numbers it has, an index into `tables`
  };
  struct Shard {
    std::string file, fingerprint;
    uint64_t rows = 0;
  };
  struct Split {
    std::string name;
    uint64_t rows = 0;
    std::vector<Shard> shards;
  };

  std::vector<Table> tables;  // one for each categorical column, in the order of the tensors
  std::vector<std::string> dense;
  std::vector<Label> labels;
  std::vector<std::string> domains;      // none: there is no domain
  std::vector<double> windows;           // seconds, ascending; none: labels have no windows
  std::vector<Sequence> sequences;       // none: there are no sequences
  uint64_t sequence_length = 0;          // the most events of a row
  std::vector<std::string> row_columns;  // of "id" and "time" those that there are
  std::vector<Split> splits;
  std::string schema;  // SHA-256 of columns, vocabularies and statistics: a model fits one schema

  // `folder` is the run folder of an ingest.
  static Result<ShardIndex> read(const std::string& folder);
  // The split, or an error that lists those there are.
  Result<const Split*> split(const std::string& name) const;
};

}  // namespace weft::lattice
