// SPDX-License-Identifier: Apache-2.0

// What a data set for training is made of: columns with their roles, how rows are split, where
// sequences come from. Names of the YAML keys are those of the fields.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/ingest/source.h"
#include "lattice/schema/fields.h"

namespace weft::lattice {

// A value becomes a row number of its table as lattice/data/shard_index.h says.
struct CategoricalColumn {
  std::string name;
  uint64_t unknown_buckets = 4;
  uint64_t least_count = 2;   // rarer values of the training split are unknown
  uint64_t most = 1'000'000;  // the most frequent ones, ties in order of their text
  double most_unknown = 0.5;  // a larger unknown share of the training split is an error
};

enum class Transform : uint8_t { None, Log1p };
enum class Outside : uint8_t { Clip, Refuse };

// value -> bounded to [from, to] -> transformed -> (x - mean) / deviation of the training split
struct DenseColumn {
  std::string name;
  Transform transform = Transform::None;
  double from = -1e30, to = 1e30;  // the declared domain
  Outside outside = Outside::Clip;
  bool standardize = true;
};

struct LabelColumn {
  std::string name;
  std::vector<std::string> positive;  // words that mean 1; none: the column is a number from 0 to 1
};

struct SequenceTable {
  SourceFiles files;
  std::string user = "user_id";  // in both tables
  std::string event_id = "event_id", event_time = "event_time", arrival_time = "arrival_time";
  // A column of events and the categorical column whose vocabulary it shares.
  std::vector<std::pair<std::string, std::string>> columns;
  uint64_t length = 50;
};

struct DataConfiguration {
  std::string base;
  SourceFiles table;
  std::string id;      // optional; shards carry it
  std::string time;    // optional; with it rows are in its order and splits are by time
  std::string domain;  // optional
  TimeUnit unit = TimeUnit::None;
  bool assume_utc = false;
  std::vector<CategoricalColumn> categorical;
  std::vector<DenseColumn> dense;
  std::vector<LabelColumn> labels;
  std::string zipped;                    // run folder of a zip, whose labels are joined by the id
  std::vector<std::string> zip_labels;   // its objectives
  std::vector<SequenceTable> sequences;  // none or one
  // By time: training before valid_from, validation before test_from, test after, until test_until
  // when there is one (labels of long windows are not known for the last rows of a log). Or each
  // split from files of its own, training being `table`.
  std::string valid_from, test_from, test_until;
  SourceFiles valid, test;
  uint64_t shard_rows = 65'536;
};

// The map under "data".
Result<DataConfiguration> read_data(const YamlDocument& document, const YamlNode& node,
                                    std::string base);
Json to_json(const DataConfiguration& configuration);

}  // namespace weft::lattice
