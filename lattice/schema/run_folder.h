// SPDX-License-Identifier: Apache-2.0

// The folder that one step leaves behind, and the reason why a second start goes on instead of
// starting over:
//
//   run.json            verb, exact command, versions, seed, digest of configuration and inputs
//   configuration.yaml  every value, defaults included (JSON, which is YAML)
//   outputs.jsonl       one line for each file that is finished: name, bytes, fingerprint
//   metrics.jsonl       one line for each measurement
//   manifest.json       written last: outputs and summary. Without it the step is not finished
//
// A file counts only when outputs.jsonl names it and it still has that size and fingerprint; files
// are written under another name and renamed. So nothing half-written is later trusted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/json.h"
#include "base/result.h"

namespace weft::lattice {

struct RunIdentity {
  std::string verb;
  Json configuration;               // resolved
  std::vector<std::string> inputs;  // files that are read
  uint64_t seed = 0;
  std::vector<std::string> command;             // as typed
  std::map<std::string, std::string> versions;  // of the libraries that did the work
};

class RunFolder {
 public:
  // Makes the folder, or goes on in one that holds the same run. A folder with another run, or with
  // files that are no run, or that another process works in, is an error.
  static Result<RunFolder> open(const std::string& path, RunIdentity identity);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // The step was finished before; its summary is in the manifest.
  bool complete() const { return complete_; }
  const Json& summary() const { return summary_; }

  // An earlier start finished this file and it is intact.
  bool has(const std::string& name) const { return outputs_.count(name) != 0; }
  // The file is finished (written and renamed) and may be trusted from now on.
  Result<Done> record(const std::string& name);
  Result<Done> metric(const Json& line);
  Result<Done> finish(const Json& summary);

 private:
  RunFolder(std::string path, RunIdentity identity)
      : path_(std::move(path)), identity_(std::move(identity)) {}
  Result<Done> load();
  Result<Done> append(const std::string& name, const Json& line) const;

  struct Output {
    uint64_t bytes = 0;
    std::string fingerprint;
  };

  std::string path_;
  RunIdentity identity_;
  std::shared_ptr<Descriptor> lock_;
  std::string digest_;
  std::map<std::string, Output> outputs_;
  bool complete_ = false;
  Json summary_;
};

// The summary that a finished run of `verb` left in `folder`. Anything else there is an error that
// says which step comes first.
Result<Json> finished_summary(const std::string& folder, const std::string& verb);

}  // namespace weft::lattice
