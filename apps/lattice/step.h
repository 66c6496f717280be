// SPDX-License-Identifier: Apache-2.0

// What steps share: their section of the configuration, their run folder, their progress.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/lattice/verbs.h"
#include "base/json.h"
#include "base/result.h"
#include "lattice/schema/run_folder.h"
#include "lattice/schema/yaml_document.h"

namespace weft::lattice {

// The configuration that has the section (the fallback when the first has not), with the command
// line's values set. Sections that no verb reads are errors.
Result<YamlDocument> load_configuration(const StepOptions& options, const std::string& section);
// The section; an empty map when it is missing.
const YamlNode& section(const YamlDocument& document, const std::string& name);
// Where relative files start.
std::string base_folder(const StepOptions& options);
std::string out_folder(const StepOptions& options, const std::string& verb);

// Called with what is being done and how many more rows of it are done.
using Advance = std::function<void(const std::string& stage, uint64_t rows)>;

// Opens the run folder, does the work unless an earlier start finished it, and returns the summary.
// `total` rows are expected; 0 when nobody knows.
Result<Json> perform_step(const StepOptions& options, const std::string& verb, RunIdentity identity,
                          uint64_t total,
                          const std::function<Result<Json>(RunFolder&, const Advance&)>& work);

using Row = std::vector<std::string>;
// The first row is the heading. The last column is not padded.
std::string table(const std::vector<Row>& rows);
// Of what partition measures: impressions, rates and delays.
std::string portfolio_table(const Json& portfolios);

}  // namespace weft::lattice
