// SPDX-License-Identifier: Apache-2.0

#include "base/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace weft {
namespace {

// Files under /proc have no size to ask for, so they are read until their end. Empty if gone.
std::string read_all(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[1024];
  if (!file.open()) return text;
  for (ssize_t length; (length = read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(length));
  return text;
}

void append_numbers(const std::string& text, std::vector<pid_t>& numbers) {
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const long number = std::strtol(at, &end, 10);
    if (end == at) return;
    numbers.push_back(static_cast<pid_t>(number));
  }
}

// A process's children are listed by the thread that forked them.
void append_children(pid_t pid, std::vector<pid_t>& pids) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  DIR* folder = opendir(tasks.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0)
      append_numbers(read_all(tasks + "/" + entry->d_name + "/children"), pids);
  }
  closedir(folder);
}

uint64_t resident_bytes(pid_t pid) {
  // "size resident shared ...", in pages.
  const std::string text = read_all("/proc/" + std::to_string(pid) + "/statm");
  const size_t second = text.find(' ');
  if (second == std::string::npos) return 0;
  static const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::strtoull(text.c_str() + second, nullptr, 10) * page;
}

}  // namespace

TreeUse use_below(pid_t root) {
  TreeUse use;
  std::vector<pid_t> pending;
  append_children(root, pending);
  while (!pending.empty()) {
    const pid_t pid = pending.back();
    pending.pop_back();
    const uint64_t bytes = resident_bytes(pid);
    use.processes += 1;
    use.resident_bytes += bytes;
    use.largest_resident_bytes = std::max(use.largest_resident_bytes, bytes);
    append_children(pid, pending);
  }
  return use;
}

}  // namespace weft
