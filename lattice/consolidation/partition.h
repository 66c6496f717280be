// SPDX-License-Identifier: Apache-2.0

// Partition: measures portfolios in an event log (sketches of their users and items, rates, delays,
// gradients that a linear probe sends into shared weights) and groups them. Leaves partition.json.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/consolidation/grouping.h"
#include "lattice/ingest/source.h"
#include "lattice/schema/fields.h"
#include "lattice/schema/run_folder.h"

namespace weft::lattice {

struct PartitionConfiguration {
  std::string base;
  std::vector<std::string> impressions = {"impressions/*.parquet"},
                           feedback = {"feedback/*.parquet"};
  std::string impression_id = "impression_id", domain = "domain", user = "user_id",
              item = "item_id";
  std::string time = "event_time", event_id = "event_id", objective = "objective",
              refund_of = "refund_of";
  std::vector<std::string> objectives;
  std::vector<std::string> probe;  // dense columns; none: no gradients
  uint64_t probe_rows = 200'000;   // about
  double least_gradient = 4;       // standard errors below which a gradient says nothing
  std::map<std::string, Portfolio> portfolios;  // revenue, latency and cost by "domain/objective"
  GroupingPolicy policy;
};

// The map under "partition".
Result<PartitionConfiguration> read_partition(const YamlDocument& document, const YamlNode& node,
                                              std::string base);
Json to_json(const PartitionConfiguration& configuration);
Result<std::vector<std::string>> partition_inputs(const PartitionConfiguration& configuration);

struct PartitionOptions {
  unsigned workers = 0;
  std::function<void(const std::string& stage, uint64_t rows)> progress = [](const std::string&,
                                                                             uint64_t) {};
};

// What partition measures, without gradients and groups: {"domains", "portfolios", "overlaps"}.
Result<Json> measure_portfolios(const PartitionConfiguration& configuration, unsigned workers);

Result<Json> partition(const PartitionConfiguration& configuration, RunFolder& run,
                       const PartitionOptions& options = {});

}  // namespace weft::lattice
