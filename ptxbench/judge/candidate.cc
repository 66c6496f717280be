// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/candidate.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text_file.h"
#include "ptxbench/judge/source_bundle.h"

namespace weft::judge {

Result<Candidate> load_candidate(const std::string& path, const std::string& root) {
  const std::filesystem::path file(path);
  Candidate candidate;
  candidate.path = path;
  candidate.name = file.stem().string();
  const std::string extension = file.extension().string();
  if (extension == ".cu") {
    candidate.kind = Candidate::Kind::Cuda;
    candidate.source = TRY(bundle_source(path, root));
  } else if (extension == ".ptx") {
    candidate.kind = Candidate::Kind::Ptx;
    candidate.source = TRY(read_file(path));
    candidate.launches = TRY(parse_launches(candidate.source, path));
  } else {
    return Error(fmt::format("a candidate is a .cu or a .ptx file: {}", path),
                 "rename the file after what it holds");
  }
  candidate.sha256 = sha256(candidate.source);
  return candidate;
}

}  // namespace weft::judge
