// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/toolchain.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "base/subprocess.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first of the folders above `start` (itself included) that holds `inside`.
std::string find_above(fs::path start, const char* inside) {
  std::error_code ignored;
  for (;;) {
    const fs::path candidate = start / inside;
    if (fs::exists(candidate, ignored)) return candidate.string();
    if (!start.has_relative_path()) return "";
    start = start.parent_path();
  }
}

// With links resolved, since a sandbox cannot mount over a link; empty when there is no such file.
std::string existing(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? fs::weakly_canonical(path, ignored).string() : "";
}

void find_nvcc(Toolchain& toolchain) {
  const std::string named = environment("WEFT_NVCC");
  if (!named.empty()) {
    toolchain.nvcc = find_program(named);
    if (toolchain.nvcc.empty())
      toolchain.nvcc_reason = fmt::format("WEFT_NVCC names no executable: {}", named);
    return;
  }
  std::vector<std::string> places = {"nvcc"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = environment(variable);
    if (!home.empty()) places.push_back(home + "/bin/nvcc");
  }
  places.push_back("/usr/local/cuda/bin/nvcc");
  for (const std::string& place : places) {
    toolchain.nvcc = find_program(place);
    if (!toolchain.nvcc.empty()) return;
  }
  toolchain.nvcc_reason = "nvcc is neither on PATH nor in CUDA_HOME nor in /usr/local/cuda";
}

}  // namespace

Toolchain find_toolchain() {
  Toolchain toolchain;
  find_nvcc(toolchain);
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path here = fs::current_path(ignored);
  const auto above = [&](const char* inside) {
    const std::string found = find_above(program, inside);
    return found.empty() ? find_above(here, inside) : found;
  };
  const std::string header = above("kernels/include/tvm/ffi/tvm_ffi.h");
  if (!header.empty())
    toolchain.headers = existing(fs::path(header).parent_path().parent_path().parent_path());
  const std::string named = environment("WEFT_PROBLEMS");
  const std::string definitions = named.empty() ? above("problems/definitions") : "";
  toolchain.problems =
      named.empty() && !definitions.empty() ? fs::path(definitions).parent_path().string() : named;
  toolchain.worker = existing(program / "ptxbench-worker");
  toolchain.library = existing(program / "ptxbench-library");
  toolchain.replay = existing(program / "ptxbench-replay");
  if (!existing(program.parent_path() / "cuda" / "libcudart.so.13").empty()) {
    toolchain.emulated_cuda = existing(program.parent_path() / "cuda");
  }
  return toolchain;
}

Result<Done> require_nvcc(const Toolchain& toolchain) {
  if (toolchain.nvcc.empty()) {
    return Error(fmt::format("CUDA's compiler is missing: {}", toolchain.nvcc_reason),
                 "install the CUDA 13 toolkit or set WEFT_NVCC; .ptx candidates need no compiler");
  }
  if (toolchain.headers.empty()) {
    return Error("the candidates' headers are missing: kernels/include",
                 "run from the project's folder, or build there");
  }
  return Done{};
}

Result<Done> require_emulator(const Toolchain& toolchain) {
  if (toolchain.worker.empty() || toolchain.replay.empty()) {
    return Error("ptxbench-worker or ptxbench-replay is missing beside this program",
                 "build the targets of these names");
  }
  if (toolchain.emulated_cuda.empty()) {
    return Error(
        "the emulated CUDA libraries are missing: cuda/libcudart.so.13 beside the program's folder",
        "build the whole project: cmake --build build/dev");
  }
  return Done{};
}

}  // namespace weft::judge
