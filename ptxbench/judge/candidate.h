// SPDX-License-Identifier: Apache-2.0

// What is judged: a CUDA source that exports __tvm_ffi_run, or a PTX text that says how it is
// launched. docs/candidates.md is the contract.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/launch.h"

namespace weft::judge {

struct Candidate {
  enum class Kind : uint8_t { Cuda, Ptx };
  Kind kind = Kind::Cuda;
  std::string path;              // as given
  std::string name;              // file name without extension
  std::string source;            // one text: local includes are part of it
  std::string sha256;            // of `source`
  std::vector<Launch> launches;  // Ptx only
};

// Quoted includes that lie below `root` become part of the source, with #line directives so that
// messages keep their places. An empty root means the parent of the candidate's folder, so that a
// variant in a subfolder may include what it varies.
Result<Candidate> load_candidate(const std::string& path, const std::string& root);

}  // namespace weft::judge
