// SPDX-License-Identifier: Apache-2.0

// The task folder as the contract shows it: definitions and workloads, read once at the start.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace weft::service {

struct DefinitionEntry {
  std::string name;
  std::string definition;              // JSON
  std::string description;             // may be empty
  std::vector<std::string> workloads;  // JSON each
  std::string stamp;                   // of both files: another stamp is another question
};

class TraceSet {
 public:
  static Result<TraceSet> open(const std::string& folder);

  const std::vector<DefinitionEntry>& definitions() const { return definitions_; }
  const DefinitionEntry* find(const std::string& name) const;
  // JSON; nullptr when no definition has it.
  const std::string* workload(const std::string& uuid) const;

 private:
  std::vector<DefinitionEntry> definitions_;
  std::map<std::string, std::string> workloads_;  // by uuid
};

}  // namespace weft::service
