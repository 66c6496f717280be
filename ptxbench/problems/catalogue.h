// SPDX-License-Identifier: Apache-2.0

// The tasks of a trace set: a folder with definitions/<op>/<name>.json and
// workloads/<op>/<name>.jsonl.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/definition.h"
#include "ptxbench/problems/workload.h"

namespace weft::problems {

class Catalogue {
 public:
  static Result<Catalogue> open(const std::string& folder);

  const std::vector<std::string>& names() const { return names_; }  // sorted
  const std::string& folder() const { return folder_; }

  // Errors about an unknown name list the nearest known ones.
  Result<Definition> definition(std::string_view name) const;
  Result<std::vector<Workload>> workloads(const Definition& definition) const;

  // The task for these words of the command line. Without a uuid the workload with the most work is
  // taken; a unique beginning of a uuid is enough.
  Result<Task> task(std::string_view name, std::string_view uuid, Overrides overrides) const;

 private:
  std::string folder_;
  std::vector<std::string> names_;
  std::vector<std::string> operations_;  // the folder below definitions/, one a name
};

}  // namespace weft::problems
