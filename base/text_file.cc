// SPDX-License-Identifier: Apache-2.0

#include "base/text_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"

namespace weft {
namespace {

Error failed(const char* what, const std::string& path, int system_error) {
  return Error(
      Diagnostic{.message = std::string(what) + ": " + std::strerror(system_error), .file = path});
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t length = write(fd, content.data(), content.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return false;
    content.remove_prefix(static_cast<size_t>(length));
  }
  return true;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return failed("cannot open the file", path, errno);
  std::string content;
  struct stat status {};
  if (fstat(file.get(), &status) == 0 && status.st_size > 0)
    content.reserve(static_cast<size_t>(status.st_size));
  char part[1 << 16];
  for (;;) {
    const ssize_t length = read(file.get(), part, sizeof part);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return failed("cannot read the file", path, errno);
    if (length == 0) return content;
    content.append(part, static_cast<size_t>(length));
  }
}

Result<Done> write_file(const std::string& path, std::string_view content) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return failed("cannot create the folder", parent.string(), error.value());

  std::string draft = path + ".XXXXXX";
  const Descriptor file(mkostemp(draft.data(), O_CLOEXEC));
  if (!file.open()) return failed("cannot create the file", path, errno);
  // mkostemp lets only the owner in; a plain new file obeys the user's mask.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file.get(), 0666 & ~mask);
  if (!write_all(file.get(), content) || std::rename(draft.c_str(), path.c_str()) != 0) {
    const int cause = errno;
    unlink(draft.c_str());
    return failed("cannot write the file", path, cause);
  }
  return Done{};
}

}  // namespace weft
