// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/device.h"

#include <dlfcn.h>
#include <link.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The toolkit's folder, with links resolved; empty when there is none.
fs::path toolkit(const Toolchain& toolchain) {
  std::error_code ignored;
  if (toolchain.nvcc.empty()) return fs::weakly_canonical("/usr/local/cuda", ignored);
  return fs::weakly_canonical(toolchain.nvcc, ignored).parent_path().parent_path();
}

// Where the driver's libraries lie, when that is not among the system's own: container runtimes
// mount them below /usr/local, which candidates do not see. Asked of a library that has no emulated
// namesake.
fs::path driver_folder() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  if (library == nullptr) return {};
  link_map* loaded = nullptr;
  fs::path folder;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0)
    folder = fs::path(loaded->l_name).parent_path();
  dlclose(library);
  for (const char* system : {"/lib", "/usr/lib"})
    if (folder.string().starts_with(system)) return {};
  return folder;
}

std::vector<std::string> folders(const Toolchain& toolchain) {
  std::vector<std::string> all;
  const auto add = [&all](const std::string& folder) {
    std::error_code ignored;
    if (!folder.empty() && fs::is_directory(folder, ignored)) all.push_back(folder);
  };
  const fs::path cuda = toolkit(toolchain);
  add((cuda / "lib64").string());
  add((cuda / "extras/CUPTI/lib64").string());
  static const fs::path driver = driver_folder();
  add(driver.string());
  for (const char* variable : {"WEFT_CUDA_LIBRARIES", "LD_LIBRARY_PATH"}) {
    std::string list = environment(variable);
    while (!list.empty()) {
      const size_t end = std::min(list.find(':'), list.size());
      add(list.substr(0, end));
      list.erase(0, end + 1);
    }
  }
  return all;
}

}  // namespace

Result<std::optional<unsigned>> parse_device(std::string_view text) {
  if (text == "emulated") return std::optional<unsigned>();
  constexpr std::string_view kPrefix = "cuda:";
  unsigned index = 0;
  if (text.starts_with(kPrefix)) {
    const char* last = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + kPrefix.size(), last, index);
    if (parsed.ec == std::errc() && parsed.ptr == last) return std::optional(index);
  }
  return Error(fmt::format("unknown device: \"{}\"", text), "emulated, cuda:0, cuda:1, ...");
}

std::string vendor_library_path(const Toolchain& toolchain) {
  return fmt::format("{}", fmt::join(folders(toolchain), ":"));
}

std::vector<std::string> vendor_folders(const Toolchain& toolchain) {
  std::vector<std::string> all = folders(toolchain);
  all.push_back(toolkit(toolchain).string());
  return all;
}

}  // namespace weft::judge
