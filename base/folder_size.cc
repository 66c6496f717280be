// SPDX-License-Identifier: Apache-2.0

#include "base/folder_size.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

namespace weft {

uint64_t bytes_in(const std::string& folder, uint64_t most) {
  constexpr uint64_t kBlock = 4096;
  uint64_t bytes = 0;
  std::error_code failure;
  std::filesystem::recursive_directory_iterator entry(folder, failure), end;
  while (!failure && entry != end && bytes <= most) {
    struct stat status {};
    bytes += kBlock;
    if (lstat(entry->path().c_str(), &status) == 0)
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    entry.increment(failure);
  }
  return bytes;
}

}  // namespace weft
