// SPDX-License-Identifier: Apache-2.0

// nvcc keeps its intermediate files in the folder, which yields the PTX of the same build without a
// second run.
#include "ptxbench/judge/build.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/sandbox.h"
#include "base/text_file.h"
#include "ptxbench/judge/architecture.h"
#include "ptxbench/judge/build_cache.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

// Names in the scratch folder and in cache entries.
constexpr const char* kObject = "candidate.so";
constexpr const char* kPtx = "kept.ptx";
constexpr const char* kLog = "log.txt";
constexpr const char* kDependencies = "dependencies";

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

// Messages and line tables name the file that the user knows.
std::string source_text(const Candidate& candidate) {
  return fmt::format("#line 1 \"{}\"\n{}", candidate.path, candidate.source);
}

// A link cannot be mounted over: the toolkit is used and shown under its real name.
fs::path real_nvcc(const Toolchain& toolchain) {
  std::error_code ignored;
  return fs::weakly_canonical(toolchain.nvcc, ignored);
}

std::vector<std::string> compiler_flags(const Toolchain& toolchain, std::string_view architecture) {
  return {"-shared",
          "-O3",
          "-std=c++17",
          "-lineinfo",
          "-cudart",
          "shared",
          "-Xcompiler",
          "-fPIC",
          "-gencode",
          fmt::format("arch=compute_{0},code=[sm_{0},compute_{0}]", architecture),
          "-I",
          toolchain.headers,
          "--ptxas-options=-v"};
}

// Size and time of change: another compiler in the same place differs in them.
std::string identity_of(const fs::path& file) {
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(file, ignored);
  const auto changed = fs::last_write_time(real, ignored).time_since_epoch().count();
  return fmt::format("{} {} {}\n", real.string(), fs::file_size(real, ignored), changed);
}

// Everything that decides a build and is known before it. The headers that it reads are not, but
// which names could be found is: a new file may hide another.
std::string build_inputs(const Candidate& candidate, const Toolchain& toolchain,
                         std::string_view architecture) {
  std::string text = "weft build 1\n";
  const fs::path nvcc = real_nvcc(toolchain);
  const fs::path toolkit = nvcc.parent_path().parent_path();
  for (const fs::path& program : {nvcc, toolkit / "bin/ptxas", toolkit / "nvvm/bin/cicc",
                                  fs::path("/usr/bin/gcc"), fs::path("/usr/bin/g++")})
    text += identity_of(program);
  for (const std::string& flag : compiler_flags(toolchain, architecture)) text += flag + "\n";
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(toolchain.headers, ignored))
    names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) text += name + "\n";
  return text + source_text(candidate);
}

}  // namespace

std::string without_folder(std::string text, const std::string& folder) {
  const std::string prefix = folder + "/";
  for (size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  return text;
}

namespace {

Result<BuildOutcome> compile(std::string_view architecture, const Candidate& candidate,
                             const Toolchain& toolchain, const std::string& folder,
                             const BuildLimits& limits, const std::atomic<bool>* cancel) {
  const std::string source = folder + "/candidate.cu";
  TRY(write_file(source, source_text(candidate)));
  BuildOutcome outcome;
  outcome.object = folder + "/" + kObject;
  const fs::path nvcc = real_nvcc(toolchain);
  const std::string cuda = nvcc.parent_path().parent_path().string();
  Command command;
  command.arguments = {nvcc.string()};
  for (const std::string& flag : compiler_flags(toolchain, architecture))
    command.arguments.push_back(flag);
  for (const std::string& word :
       {std::string("--keep"), std::string("--keep-dir"), folder, std::string("-MD"),
        std::string("-MF"), folder + "/" + kDependencies, std::string("-o"), outcome.object,
        source})
    command.arguments.push_back(word);
  // Nothing of our own environment: a candidate could print it at compile time.
  command.environment =
      std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C"};
  command.working_directory = folder;
  command.limits.seconds = limits.seconds;
  command.limits.resident_bytes = limits.resident_bytes;
  command.limits.file_bytes = uint64_t{1} << 30;
  command.limits.processes = 64;
  command.cancel = cancel;
  const SandboxedOutcome ran = TRY(run_sandboxed(command, {.writable = {folder},
                                                           .readable = {toolchain.headers, cuda},
                                                           .view = Sandbox::View::Programs}));
  if (ran.outcome.ending == Ending::Cancelled) return Error("the judgement was cancelled");
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

Result<BuildOutcome> from_cache(const CachedBuild& found) {
  BuildOutcome outcome;
  outcome.built = outcome.from_cache = outcome.sandboxed = true;
  outcome.object = found.folder + "/" + kObject;
  outcome.ptx = TRY(read_file(found.folder + "/" + kPtx));
  outcome.log = TRY(read_file(found.folder + "/" + kLog));
  outcome.notes = notes_of(outcome.log);
  return outcome;
}

// What the compiler read, without the candidate itself.
Result<std::vector<std::string>> headers_of(const std::string& folder) {
  std::vector<std::string> headers;
  for (std::string& name : read_dependencies(TRY(read_file(folder + "/" + kDependencies)))) {
    std::error_code ignored;
    const std::string path = fs::weakly_canonical(fs::path(folder) / name, ignored).string();
    if (!path.starts_with(folder + "/")) headers.push_back(path);
  }
  std::sort(headers.begin(), headers.end());
  headers.erase(std::unique(headers.begin(), headers.end()), headers.end());
  return headers;
}

}  // namespace

std::string_view architecture_of(std::string_view device) {
  return device == "b200" ? "100a" : "90a";
}

Result<BuildOutcome> build_candidate(const Candidate& candidate, const Toolchain& toolchain,
                                     const BuildPlace& place, const BuildLimits& limits) {
  return build_for("90a", candidate, toolchain, place, limits);
}

Result<BuildOutcome> build_for(std::string_view architecture, const Candidate& candidate,
                               const Toolchain& toolchain, const BuildPlace& place,
                               const BuildLimits& limits) {
  TRY(require_nvcc(toolchain));
  if (place.cache.empty())
    return compile(architecture, candidate, toolchain, place.folder, limits, place.cancel);
  const BuildCache cache = TRY(BuildCache::open(place.cache));
  const BuildCache::Lock lock = TRY(cache.lock(build_inputs(candidate, toolchain, architecture)));
  if (const std::optional<CachedBuild> found = cache.find(lock)) return from_cache(*found);
  const std::string& folder = lock.scratch();
  BuildOutcome outcome =
      TRY(compile(architecture, candidate, toolchain, folder, limits, place.cancel));
  if (!outcome.built) return outcome;
  TRY(write_file(folder + "/" + kPtx, outcome.ptx));
  TRY(write_file(folder + "/" + kLog, outcome.log));
  const std::vector<std::string> headers = TRY(headers_of(folder));
  const CachedBuild kept = TRY(cache.commit(lock, {kObject, kPtx, kLog}, headers));
  outcome.object = kept.folder + "/" + kObject;
  return outcome;
}

}  // namespace weft::judge
