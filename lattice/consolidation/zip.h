// SPDX-License-Identifier: Apache-2.0

// Zip: impressions and later events become one labelled stream. Each impression is in exactly one
// of
//
//   zipped/part-*.parquet   mature: impression_id, event_time, emit_time, window, and for each
//                           objective its label (0 or 1) and its count of conversions
//   pending/part-*.parquet  not mature yet: the same, with null labels
//
// in order of (emit_time, impression_id). Features stay in the impressions' own files and are
// joined by the id when training shards are made. The files are the same for any number of workers:
// rows go through buckets by key on disk, so memory does not grow with the log.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/consolidation/zip_rules.h"
#include "lattice/ingest/source.h"
#include "lattice/schema/fields.h"
#include "lattice/schema/run_folder.h"

namespace weft::lattice {

struct ZipConfiguration {
  std::string base;  // folder that relative files start from
  SourceFiles impressions = {.files = {"impressions/*.parquet"}};
  SourceFiles feedback = {.files = {"feedback/*.parquet"}};
  std::string impression_id = "impression_id", impression_time = "event_time";
  std::string event_id = "event_id", event_time = "event_time", arrival_time = "arrival_time";
  std::string objective = "objective", refund_of = "refund_of";  // refund_of "": no refunds
  std::vector<std::string> key = {"impression_id"};              // in both tables
  TimeUnit unit = TimeUnit::None;
  bool assume_utc = false;
  std::vector<double> windows = {5400, 86400, 604800};     // seconds
  std::vector<double> shares;                              // none: equal
  std::vector<std::pair<std::string, double>> objectives;  // name, fixed window in seconds or 0
  Touch touch = Touch::Last;
  WindowEnd window_end = WindowEnd::Inclusive;
  Refunds refunds = Refunds::Cancel;
  double allowance_seconds = 600;
  std::string as_of;  // empty: the last arrival in the log
  uint64_t seed = 1;
  uint64_t part_rows = 500'000;
};

// The map under "zip".
Result<ZipConfiguration> read_zip(const YamlDocument& document, const YamlNode& node,
                                  std::string base);
Json to_json(const ZipConfiguration& configuration);
// The files that it reads, for the run folder's record.
Result<std::vector<std::string>> zip_inputs(const ZipConfiguration& configuration);

struct ZipOptions {
  unsigned workers = 0;
  std::function<void(const std::string& stage, uint64_t rows)> progress = [](const std::string&,
                                                                             uint64_t) {};
};

Result<Json> zip(const ZipConfiguration& configuration, RunFolder& run,
                 const ZipOptions& options = {});

}  // namespace weft::lattice
