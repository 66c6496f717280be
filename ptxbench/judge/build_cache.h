// SPDX-License-Identifier: Apache-2.0

// Finished builds, kept by content: the source, every header that the compiler read, its flags, the
// compiler itself and the target. One folder an entry, made beside its place and renamed into it,
// so that a build that was killed leaves nothing that anybody would take for a build.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace weft::judge {

struct CachedBuild {
  std::string folder;  // with candidate.so, candidate.ptx and log.txt
};

class BuildCache {
 public:
  // The folder is made when it is missing.
  static Result<BuildCache> open(const std::string& folder);

  // Held while one source is looked up and built: whoever asks for the same one waits, also in
  // another process, and then finds the entry.
  class Lock {
   public:
    const std::string& scratch() const { return scratch_; }

   private:
    friend class BuildCache;
    Descriptor file_;
    std::string key_, scratch_;
  };
  // `inputs` is everything that decides the build and is known before it: source, flags, compiler,
  // target. An empty scratch folder is part of the lock.
  Result<Lock> lock(std::string_view inputs) const;

  // An entry whose headers are still what they were and whose files are whole.
  std::optional<CachedBuild> find(const Lock& lock) const;
  // Makes the scratch folder's `files` an entry. `headers` are the files that the compiler read.
  Result<CachedBuild> commit(const Lock& lock, const std::vector<std::string>& files,
                             const std::vector<std::string>& headers) const;

 private:
  explicit BuildCache(std::string folder) : folder_(std::move(folder)) {}
  bool sound(const std::string& entry) const;

  std::string folder_;
};

// Names of the files in a dependency list as compilers write it for make.
std::vector<std::string> read_dependencies(std::string_view text);

// The user's folder for builds: WEFT_BUILD_CACHE, or weft/builds in the user's cache folder; empty
// when neither is known.
std::string default_build_cache();

}  // namespace weft::judge
