// SPDX-License-Identifier: Apache-2.0

// Splits end where the log can still tell every window's label: an impression later than that has
// labels of short windows only, and would tilt a comparison.
#include "lattice/world/steps_configuration.h"

#include <cmath>

#include <fmt/format.h>

#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

// Of the time in which all labels are known: the rest is training, and half a day is too short.
constexpr double kValid = 0.12, kTest = 0.12, kShortest = 43200;
// What reports may take after the longest window; more than the zip's allowance.
constexpr double kReports = 3600;

}  // namespace

std::string steps_configuration(const WorldModel& model) {
  const auto& c = model.configuration();
  std::string objectives, names, windows, dense, probe;
  for (const ObjectiveConfiguration& objective : c.objectives) {
    objectives += fmt::format("    {}: {}\n", objective.name,
                              objective.delay.empty() ? "{window: 10m}" : "{}");
    names += (names.empty() ? "" : ", ") + objective.name;
  }
  double known = c.seconds;
  for (const double window : c.windows) {
    windows += (windows.empty() ? "" : ", ") + format_duration(window);
    known = std::min(known, c.seconds - window - kReports);
  }
  // A log shorter than its windows is for tests of the steps, not of models.
  if (known < kShortest) known = c.seconds;
  for (const WorldFeature& feature : model.features()) {
    if (feature.kind == FeatureKind::Shared) probe += (probe.empty() ? "" : ", ") + feature.name;
    dense += fmt::format("    {}: {}\n", feature.name,
                         feature.log_normal ? "{transform: log1p, to: 1000}" : "{}");
  }
  const auto instant = [&](double seconds) {
    return format_instant(model.start() + to_microseconds(std::floor(seconds)));
  };
  return fmt::format(R"(# Written by `lattice world`: the other steps run on this folder with it.
zip:
  windows: [{0}]
  objectives:
{1}partition:
  objectives: [{2}]
  probe: [{8}]  # features that every domain has
data:
  table: {{files: impressions/*.parquet}}
  id: impression_id
  time: event_time
  domain: domain
  zipped: ""  # the run folder of the zip: --set data.zipped=FOLDER
  zip_labels: [{2}]
  valid_from: {3}
  test_from: {4}
  test_until: {5}
  categorical:
    user_id: {{}}
    item_id: {{}}
    advertiser_id: {{}}
    category: {{}}
    country: {{}}
    device: {{}}
  dense:
{6}  sequence:
    table: {{files: events/*.parquet}}
    columns: {{item_id: item_id, category: category}}
    length: {7}
)",
                     windows, objectives, names, instant(known * (1 - kValid - kTest)),
                     instant(known * (1 - kTest)), instant(known), dense, c.sequence_length, probe);
}

}  // namespace weft::lattice
