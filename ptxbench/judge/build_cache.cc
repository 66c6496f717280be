// SPDX-License-Identifier: Apache-2.0

// Layout: FOLDER/KEY.lock, FOLDER/KEY.building (scratch of whoever holds the lock) and
// FOLDER/KEY/MANIFEST_DIGEST/, where KEY is the digest of what is known before a build and the
// manifest lists the headers and the entry's own files with their digests. A header that changes
// leads to another entry beside the first.
#include "ptxbench/judge/build_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text_file.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest";

Result<std::string> digest_of(const std::string& path) {
  const std::string bytes = TRY(read_file(path));
  return sha256(bytes);
}

// Digests of files that did not change since they were last read, by what the system says of them.
// A build reads hundreds of headers that are the same every time.
class DigestMemory {
 public:
  Result<std::string> digest(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0)
      return Error(fmt::format("cannot look at {}: {}", path, std::strerror(errno)));
    const std::string state =
        fmt::format("{}:{}:{}:{}.{}", status.st_dev, status.st_ino, status.st_size,
                    status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    {
      const std::lock_guard lock(mutex_);
      const auto known = known_.find(path);
      if (known != known_.end() && known->second.first == state) return known->second.second;
    }
    std::string digest = TRY(digest_of(path));
    const std::lock_guard lock(mutex_);
    known_[path] = {state, digest};
    return digest;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<std::string, std::string>> known_;  // path: state, digest
};

DigestMemory& header_digests() {
  static DigestMemory memory;
  return memory;
}

// "header DIGEST PATH" or "file DIGEST NAME", one a line.
struct ManifestLine {
  std::string kind, digest, name;
};

std::vector<ManifestLine> read_manifest(std::string_view text) {
  std::vector<ManifestLine> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t first = line.find(' ');
    const size_t second = first == line.npos ? line.npos : line.find(' ', first + 1);
    if (second == line.npos) continue;
    lines.push_back({std::string(line.substr(0, first)),
                     std::string(line.substr(first + 1, second - first - 1)),
                     std::string(line.substr(second + 1))});
  }
  return lines;
}

}  // namespace

Result<BuildCache> BuildCache::open(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  const fs::path absolute = fs::weakly_canonical(folder, failure);
  if (failure)
    return Error(fmt::format("cannot make the build cache {}: {}", folder, failure.message()),
                 "name another folder in WEFT_BUILD_CACHE");
  return BuildCache(absolute.string());
}

Result<BuildCache::Lock> BuildCache::lock(std::string_view inputs) const {
  Lock lock;
  lock.key_ = sha256(inputs);
  const std::string path = fmt::format("{}/{}.lock", folder_, lock.key_);
  lock.file_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.file_.open())
    return Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  while (flock(lock.file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return Error(fmt::format("cannot lock {}: {}", path, std::strerror(errno)));
  }
  // What lies there was left by a build that was killed: nobody else holds the lock.
  lock.scratch_ = fmt::format("{}/{}.building", folder_, lock.key_);
  std::error_code failure;
  fs::remove_all(lock.scratch_, failure);
  return lock;
}

bool BuildCache::sound(const std::string& entry) const {
  const Result<std::string> manifest = read_file(entry + "/" + kManifest);
  if (!manifest.ok() || sha256(*manifest) != fs::path(entry).filename().string()) return false;
  for (const ManifestLine& line : read_manifest(*manifest)) {
    const bool header = line.kind == "header";
    const Result<std::string> digest =
        header_digests().digest(header ? line.name : entry + "/" + line.name);
    if (!digest.ok() || *digest != line.digest) return false;
  }
  return true;
}

std::optional<CachedBuild> BuildCache::find(const Lock& lock) const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_ + "/" + lock.key_, ignored)) {
    const std::string path = entry.path().string();
    if (sound(path)) return CachedBuild{path};
  }
  return std::nullopt;
}

Result<CachedBuild> BuildCache::commit(const Lock& lock, const std::vector<std::string>& files,
                                       const std::vector<std::string>& headers) const {
  std::string manifest;
  for (const std::string& header : headers)
    manifest += fmt::format("header {} {}\n", TRY(header_digests().digest(header)), header);
  const std::string staging = lock.scratch_ + "/entry";
  std::error_code failure;
  fs::create_directories(staging, failure);
  for (const std::string& file : files) {
    manifest += fmt::format("file {} {}\n", TRY(digest_of(lock.scratch_ + "/" + file)), file);
    fs::rename(lock.scratch_ + "/" + file, staging + "/" + file, failure);
    if (failure)
      return Error(fmt::format("cannot move {} into the cache: {}", file, failure.message()));
  }
  TRY(write_file(staging + "/" + kManifest, manifest));
  const std::string target = fmt::format("{}/{}/{}", folder_, lock.key_, sha256(manifest));
  fs::create_directories(folder_ + "/" + lock.key_, failure);
  // An entry of this name is a damaged one, or it would have been found.
  fs::remove_all(target, failure);
  fs::rename(staging, target, failure);
  if (failure)
    return Error(fmt::format("cannot move a build into the cache: {}", failure.message()));
  fs::remove_all(lock.scratch_, failure);
  return CachedBuild{target};
}

std::vector<std::string> read_dependencies(std::string_view text) {
  std::vector<std::string> names;
  const size_t colon = text.find(": ");
  if (colon == text.npos) return names;
  std::string name;
  for (size_t i = colon + 2; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    if (c == '\\' && i + 1 < text.size()) {
      // Before a line's end it continues the list; elsewhere it protects the next character.
      ++i;
      if (text[i] != '\n') name += text[i];
    } else if (c == ' ' || c == '\n' || c == '\t') {
      if (!name.empty()) names.push_back(std::move(name));
      name.clear();
    } else {
      name += c;
    }
  }
  return names;
}

std::string default_build_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string named = variable("WEFT_BUILD_CACHE"); !named.empty()) return named;
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty())
    return caches + "/weft/builds";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/weft/builds";
}

}  // namespace weft::judge
