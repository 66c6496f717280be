// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/trace_set.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/text_file.h"
#include "ptxbench/problems/catalogue.h"

namespace weft::service {
namespace fs = std::filesystem;

Result<TraceSet> TraceSet::open(const std::string& folder) {
  const problems::Catalogue catalogue = TRY(problems::Catalogue::open(folder));
  TraceSet set;
  for (const std::string& name : catalogue.names()) {
    const problems::Definition definition = TRY(catalogue.definition(name));
    // Also says what is wrong with the workloads, should anything be.
    TRY(catalogue.workloads(definition));
    const std::string operation = fs::path(definition.file).parent_path().filename().string();
    const std::string file =
        (fs::path(folder) / "workloads" / operation / (name + ".jsonl")).string();
    const std::string text = TRY(read_file(definition.file)), lines = TRY(read_file(file));
    DefinitionEntry entry{.name = name,
                          .definition = to_line(TRY(parse_json(text, definition.file))),
                          .description = definition.description,
                          .stamp = sha256(text + lines).substr(0, 16)};
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
      if (line.empty()) continue;
      const Json trace = TRY(parse_json(line, file));
      entry.workloads.push_back(to_line(trace.at("workload")));
      set.workloads_.emplace(trace.at("workload").value("uuid", ""), entry.workloads.back());
    }
    set.definitions_.push_back(std::move(entry));
  }
  return set;
}

const DefinitionEntry* TraceSet::find(const std::string& name) const {
  const auto found = std::find_if(definitions_.begin(), definitions_.end(),
                                  [&](const DefinitionEntry& entry) { return entry.name == name; });
  return found == definitions_.end() ? nullptr : &*found;
}

const std::string* TraceSet::workload(const std::string& uuid) const {
  const auto found = workloads_.find(uuid);
  return found == workloads_.end() ? nullptr : &found->second;
}

}  // namespace weft::service
