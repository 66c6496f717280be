// SPDX-License-Identifier: Apache-2.0

#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"

namespace weft {

Result<MappedFile> MappedFile::open(const std::string& path) {
  const auto failed = [&](const char* what) {
    return Error(
        Diagnostic{.message = std::string(what) + ": " + std::strerror(errno), .file = path});
  };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return failed("cannot open the file");
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return failed("cannot read the file's size");
  if (!S_ISREG(status.st_mode))
    return Error(Diagnostic{.message = "not a regular file", .file = path});
  if (status.st_size == 0) return MappedFile(nullptr, 0);
  const size_t size = static_cast<size_t>(status.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return failed("cannot map the file");
  return MappedFile(data, size);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace weft
