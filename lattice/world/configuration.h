// SPDX-License-Identifier: Apache-2.0

// What a synthetic world is made of. Every number that a claim is swept over is a field here.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/schema/fields.h"

namespace weft::lattice {

// A part of a set, as an interval of [0, 1) along which its members lie at random: two domains
// overlap as their intervals do, so the true overlap is known.
struct Interval {
  double from = 0, to = 1;
};

struct DomainConfiguration {
  std::string name;
  double share = 1;  // of the traffic, relative to the other domains
  Interval users, items;
  // Angle between the direction in which this domain's labels depend on shared features and items
  // and the direction of a domain at 0. 90: unrelated, 180: opposite.
  double conflict_degrees = 0;
};

struct DelayPart {
  double share = 1;         // of the conversions
  double mean_seconds = 0;  // exponential
};

struct ObjectiveConfiguration {
  std::string name;
  double rate = 0.05;            // mean probability of ever converting
  double signal = 1;             // standard deviation of the logit, about
  std::vector<DelayPart> delay;  // none: at once, within half a minute
  double refunds = 0;            // share of conversions taken back later
};

struct WorldConfiguration {
  uint64_t seed = 1;
  uint64_t impressions = 1'000'000;
  double seconds = 30 * 86400.0;
  std::string start = "2025-01-01";
  uint64_t users = 50'000, items = 20'000;
  uint64_t categories = 40, advertisers = 500;
  double zipf = 1.05;      // exponent of the popularity of users and items
  double new_items = 0.3;  // share of the items that appear during the world
  uint64_t shared_features = 6, private_features = 3, domain_features = 2, noise_features = 4;
  double missing = 0.03;           // share of the values of dense features
  double drift = 0.4;              // standard deviation of a category's offset
  double drift_persistence = 0.9;  // from one day to the next
  double events_per_user = 40;
  uint64_t sequence_length = 20;  // events that a label may depend on
  double late_reports = 0.01;     // share of reports that arrive hours later
  double duplicate_reports = 0.005;
  std::vector<double> windows = {5400, 86400, 604800};  // for which truth is summed up, seconds
  uint64_t part_rows = 250'000;
  std::vector<DomainConfiguration> domains;
  std::vector<ObjectiveConfiguration> objectives;
};

// Named starting points; "ads-small" is the only one.
Result<WorldConfiguration> world_preset(const std::string& name);

// The map under "world". A key "preset" is the starting point; domains and objectives that are
// given replace the preset's.
Result<WorldConfiguration> read_world(const YamlDocument& document, const YamlNode& node);
Json to_json(const WorldConfiguration& world);

}  // namespace weft::lattice
