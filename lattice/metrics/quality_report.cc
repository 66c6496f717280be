// SPDX-License-Identifier: Apache-2.0

// Kept apart from the numbers, so that only this file pays for the JSON library.
#include "lattice/metrics/quality_report.h"

#include <nlohmann/json.hpp>

namespace weft::lattice {

Json to_json(const Quality& quality, const Values& values, const Intervals& intervals) {
  Json report = {{"rows", quality.rows()},
                 {"positives", quality.positives()},
                 {"ne_background", quality.background()}};
  if (quality.groups() != 0) {
    report["groups"] = quality.groups();
    report["one_sided_groups"] = quality.one_sided_groups();
  }
  for (size_t i = 0; i < kMeasures; ++i) {
    Json one = {{"value", nullptr}};
    if (values[i].value)
      one["value"] = *values[i].value;
    else
      one["reason"] = values[i].reason;
    if (intervals[i]) {
      one["low"] = intervals[i]->low;
      one["high"] = intervals[i]->high;
    }
    report[name(static_cast<Measure>(i))] = std::move(one);
  }
  return report;
}

}  // namespace weft::lattice
