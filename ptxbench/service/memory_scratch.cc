// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/memory_scratch.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>

namespace weft::service {
namespace {
namespace fs = std::filesystem;

std::string prefix() {
  return "ptxbench-" + std::to_string(getuid()) + "-";
}

// The folder with its lock; not open when somebody else holds it, or when it is no folder of ours.
Descriptor locked(const std::string& path) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!folder.open() || fstat(folder.get(), &status) != 0 || status.st_uid != getuid() ||
      flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
    return Descriptor();
  return folder;
}

void remove_orphans(const std::string& parent) {
  std::error_code failure;
  for (fs::directory_iterator entry(parent, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (!entry->path().filename().string().starts_with(prefix())) continue;
    std::error_code ignored;
    if (const Descriptor lock = locked(entry->path().string()); lock.open())
      fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

MemoryScratch MemoryScratch::create(const std::string& parent) {
  struct statfs system {};
  if (statfs(parent.c_str(), &system) != 0 || system.f_type != TMPFS_MAGIC)
    return {"", Descriptor()};
  remove_orphans(parent);
  std::string path = parent + "/" + prefix() + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return {"", Descriptor()};
  Descriptor lock = locked(path);
  struct stat status {};
  // A server that starts at this moment may have taken it for an orphan.
  if (!lock.open() || fstat(lock.get(), &status) != 0 || status.st_nlink == 0)
    return {"", Descriptor()};
  return {std::move(path), std::move(lock)};
}

MemoryScratch::~MemoryScratch() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace weft::service
