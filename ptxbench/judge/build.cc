// SPDX-License-Identifier: Apache-2.0

// nvcc keeps its intermediate files in the folder, which yields the PTX of the same build without a
// second run.
#include "ptxbench/judge/build.h"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/sandbox.h"
#include "base/text_file.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kNoteworthy[] = {"potential performance loss", "spill stores",
                                            "serialized", "serialised",
                                            "Potential Performance Loss"};

std::vector<std::string> notes_of(std::string_view log) {
  std::vector<std::string> notes;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.find("0 bytes spill stores, 0 bytes spill loads") != line.npos) continue;
    for (const std::string_view word : kNoteworthy) {
      if (line.find(word) == line.npos) continue;
      notes.emplace_back(line);
      break;
    }
  }
  return notes;
}

// The first line that says "error", else the last line.
std::string first_error(std::string_view log) {
  std::string_view last;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.find("error") != line.npos || line.find("fatal") != line.npos)
      return std::string(line);
    if (!line.empty()) last = line;
  }
  return std::string(last);
}

std::string find_ptx(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".ptx") return entry.path().string();
  }
  return "";
}

}  // namespace

std::string without_folder(std::string text, const std::string& folder) {
  const std::string prefix = folder + "/";
  for (size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  return text;
}

Result<BuildOutcome> build_candidate(const Candidate& candidate, const Toolchain& toolchain,
                                     const std::string& folder, const BuildLimits& limits) {
  TRY(require_nvcc(toolchain));
  const std::string source = folder + "/candidate.cu";
  // Messages and line tables then name the file that the user knows.
  TRY(write_file(source, fmt::format("#line 1 \"{}\"\n{}", candidate.path, candidate.source)));
  BuildOutcome outcome;
  outcome.object = folder + "/candidate.so";
  Command command;
  command.arguments = {toolchain.nvcc, "-shared",
                       "-O3",          "-std=c++17",
                       "-lineinfo",    "-cudart",
                       "shared",       "-Xcompiler",
                       "-fPIC",        "--ptxas-options=-v",
                       "-gencode",     "arch=compute_90a,code=[sm_90a,compute_90a]",
                       "-I",           toolchain.headers,
                       "--keep",       "--keep-dir",
                       folder,         "-o",
                       outcome.object, source};
  command.extra_environment = {{"TMPDIR", "/tmp"}, {"LC_ALL", "C"}};
  command.working_directory = folder;
  command.limits.seconds = limits.seconds;
  command.limits.resident_bytes = limits.resident_bytes;
  command.limits.file_bytes = uint64_t{1} << 30;
  command.limits.processes = 64;
  // A link cannot be mounted over: the toolkit is shown under its real name.
  std::error_code ignored;
  const fs::path cuda = fs::weakly_canonical(toolchain.nvcc, ignored).parent_path().parent_path();
  const SandboxedOutcome ran = TRY(run_sandboxed(
      command, {.writable = {folder}, .readable = {toolchain.headers, cuda.string()}}));
  outcome.sandboxed = ran.sandboxed;
  outcome.sandbox_reason = ran.reason;
  outcome.log = without_folder(ran.outcome.output + ran.outcome.errors, folder);
  outcome.notes = notes_of(outcome.log);
  if (ran.outcome.ending != Ending::Exited) {
    outcome.failure = fmt::format("the compiler {}", ran.outcome.describe());
  } else if (ran.outcome.exit_code != 0) {
    outcome.failure = first_error(outcome.log);
    if (outcome.failure.empty())
      outcome.failure = fmt::format("the compiler {}", ran.outcome.describe());
  } else {
    outcome.built = true;
    const std::string ptx = find_ptx(folder);
    if (!ptx.empty()) outcome.ptx = TRY(read_file(ptx));
  }
  return outcome;
}

}  // namespace weft::judge
