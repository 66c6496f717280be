// SPDX-License-Identifier: Apache-2.0

// The step "select": importances of a trained merged model on a split, and a choice of features
// with a reason for each.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "lattice/schema/fields.h"
#include "lattice/schema/run_folder.h"
#include "lattice/selection/pareto.h"

namespace weft::lattice {

// The map under "select".
struct SelectConfiguration {
  std::string models;           // run folder of a train
  std::string model;            // its name; "": the first
  std::string split = "valid";  // not what was trained on
  uint64_t rows = 50'000;       // at most, from the split's start
  uint64_t repeats = 3;         // shuffles a feature
  // Below so many deviations of the mean over shuffles an importance counts as noise.
  double floor_deviations = 2;
  SelectionOptions choice;  // its floor is made from the measurement
};

Result<SelectConfiguration> read_selection(const YamlDocument& document, const YamlNode& node,
                                           const std::string& base);
Json to_json(const SelectConfiguration& configuration);

Result<Json> select_run(const SelectConfiguration& configuration, RunFolder& run,
                        const std::function<void(const std::string&)>& progress);

}  // namespace weft::lattice
