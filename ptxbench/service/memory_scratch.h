// SPDX-License-Identifier: Apache-2.0

// A folder in memory for the small files of a server's judgements. A server that is killed cannot
// remove its own, and memory must not stay lost, so the next server of the same user removes it.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace weft::service {

class MemoryScratch {
 public:
  // Below `parent`, if that is a file system in memory; else, and whenever it cannot be made,
  // path() is empty: files then lie on the disk.
  static MemoryScratch create(const std::string& parent = "/dev/shm");

  MemoryScratch(MemoryScratch&&) = delete;
  MemoryScratch& operator=(MemoryScratch&&) = delete;
  ~MemoryScratch();

  const std::string& path() const { return path_; }

 private:
  MemoryScratch(std::string path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  Descriptor lock_;  // held by every living server on its own folder
};

}  // namespace weft::service
