// SPDX-License-Identifier: Apache-2.0

// What is known of a network and of the machines it is to be trained on: times and memory of each
// block by batch size, the network between the ranks, the embedding tables. Read from a JSON file;
// bytes are bytes, times seconds, and a batch is the rows of one rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace weft::lattice {

struct BlockProfile {
  std::string name;
  double parameter_bytes = 0;
  // By batch size, in the order of Profile::batch_rows.
  std::vector<double> forward_seconds, backward_seconds, activation_bytes;
};

// Latency and bandwidth of one link, measured at a message size.
struct LinkPoint {
  double bytes = 0, latency_seconds = 0, bytes_per_second = 0;
};

struct TableProfile {
  std::string name;
  double rows = 0, width = 0;
  double ids_per_row = 1;  // of a batch: 1 for a category, the length for a history
};

struct Profile {
  std::string hardware;
  int64_t ranks = 1, ranks_per_host = 1;
  std::vector<int64_t> batch_rows;
  std::vector<BlockProfile> blocks;
  std::vector<LinkPoint> within_host, between_hosts;  // by rising size
  std::vector<TableProfile> tables;
};

Result<Profile> parse_profile(const Json& json, const std::string& file);
Result<Profile> read_profile(const std::string& path);

// Seconds that `bytes` take to be gathered on each of `ranks` ranks, or summed and scattered from
// them: latency (n - 1) + bytes (n - 1) / (n bandwidth). An all-reduce is two of these.
double gather_seconds(const std::vector<LinkPoint>& link, double bytes, int64_t ranks);

}  // namespace weft::lattice
