// SPDX-License-Identifier: Apache-2.0

#include "base/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace weft {

namespace fs = std::filesystem;

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& purpose) {
  const char* parent = std::getenv("TMPDIR");
  return create_in(parent != nullptr && *parent != '\0' ? parent : "/tmp", purpose);
}

Result<TemporaryDirectory> TemporaryDirectory::create_in(const std::string& parent,
                                                         const std::string& purpose) {
  std::string path = parent + "/weft-" + purpose + "-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return Error("cannot create a temporary folder " + path + ": " + std::strerror(errno),
                 "set TMPDIR to a folder that can be written");
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  remove();
}

void TemporaryDirectory::remove() {
  if (path_.empty()) return;
  std::error_code error;
  fs::remove_all(path_, error);
  if (error) {
    // A judged program may have left folders that nobody may enter.
    for (auto entry = fs::recursive_directory_iterator(path_, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
        fs::permissions(entry->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
    }
    fs::remove_all(path_, error);
  }
  path_.clear();
}

}  // namespace weft
