// SPDX-License-Identifier: Apache-2.0

// The lock is a flock on the folder's lock file: it ends with the process, however that ends.
#include "lattice/schema/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "base/sha256.h"
#include "base/table/database.h"
#include "base/text_file.h"

namespace weft::lattice {
namespace {

namespace files = std::filesystem;
constexpr size_t kEdge = 65536;

Error at(const std::string& file, std::string message, std::string hint = {}) {
  return Error(Diagnostic{.message = std::move(message), .hint = std::move(hint), .file = file});
}

Result<std::string> digest_of(const RunIdentity& identity) {
  Json content = {{"verb", identity.verb}, {"configuration", identity.configuration}};
  Json inputs = Json::object();
  for (const std::string& input : identity.inputs) inputs[input] = TRY(fingerprint(input));
  content["inputs"] = inputs;
  return sha256(to_line(content));
}

// A line that a crash cut short is not valid JSON and is left out.
std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> lines;
  size_t start = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    Result<Json> line = parse_json(std::string_view(text).substr(start, end - start));
    if (line.ok()) lines.push_back(*std::move(line));
    start = end + 1;
  }
  return lines;
}

void remove_drafts(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : files::recursive_directory_iterator(folder, ignored))
    if (entry.path().extension() == ".draft") files::remove(entry.path(), ignored);
}

}  // namespace

Result<std::string> fingerprint(const std::string& path) {
  const MappedFile file = TRY(MappedFile::open(path));
  const std::string_view bytes = file.bytes();
  Sha256 hash;
  hash.update(bytes.substr(0, kEdge));
  if (bytes.size() > kEdge) hash.update(bytes.substr(std::max(kEdge, bytes.size() - kEdge)));
  return fmt::format("{}:{}", bytes.size(), hash.finish());
}

Result<RunFolder> RunFolder::open(const std::string& path, RunIdentity identity) {
  RunFolder folder(path, std::move(identity));
  folder.digest_ = TRY(digest_of(folder.identity_));
  std::error_code failed;
  const bool fresh = !files::exists(path, failed) || files::is_empty(path, failed);
  if (!fresh && !files::exists(folder.file("run.json")))
    return at(path, "the folder holds other files, not a run", "name a new folder with --out");
  files::create_directories(path, failed);
  if (failed) return at(path, "cannot create the folder: " + failed.message());

  folder.lock_ = std::make_shared<Descriptor>(
      ::open(folder.file("run.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!folder.lock_->open())
    return at(path, std::string("cannot write into the folder: ") + std::strerror(errno));
  if (flock(folder.lock_->get(), LOCK_EX | LOCK_NB) != 0)
    return at(path, "another process is working in the folder",
              "wait for it, or name another --out");

  TRY(folder.load());
  return folder;
}

Result<Done> RunFolder::load() {
  if (files::exists(file("run.json"))) {
    const Json run = TRY(read_json(file("run.json")));
    if (run.value("digest", "") != digest_)
      return at(path_, "the folder holds a run with another configuration or other inputs",
                "name a new folder with --out, or delete this one");
  } else {
    TRY(write_file(file("configuration.yaml"), to_text(identity_.configuration)));
    TRY(write_json(
        file("run.json"),
        {{"verb", identity_.verb},
         {"command", identity_.command},
         {"seed", identity_.seed},
         {"digest", digest_},
         {"inputs", identity_.inputs},
         {"versions",
          {{"format", 1}, {"compiler", __VERSION__}, {"duckdb", table::engine_version()}}}}));
  }
  remove_drafts(path_);
  if (files::exists(file("outputs.jsonl"))) {
    const std::string text = TRY(read_file(file("outputs.jsonl")));
    for (const Json& line : json_lines(text)) {
      const std::string name = line.value("file", "");
      const Result<std::string> now = fingerprint(file(name));
      if (now.ok() && *now == line.value("fingerprint", ""))
        outputs_[name] = {line.value("bytes", uint64_t{0}), *now};
    }
    // What comes next must not grow together with a line that was cut.
    if (!text.ends_with('\n')) TRY(write_file(file("outputs.jsonl"), text + "\n"));
  }
  if (!files::exists(file("manifest.json"))) return Done{};
  const Json manifest = TRY(read_json(file("manifest.json")));
  complete_ = true;
  for (const Json& output : manifest["outputs"])
    complete_ = complete_ && has(output.value("file", ""));
  if (complete_)
    summary_ = manifest["summary"];
  else
    files::remove(file("manifest.json"));
  return Done{};
}

Result<Done> RunFolder::append(const std::string& name, const Json& line) const {
  const std::string text = to_line(line) + "\n";
  const Descriptor log(::open(file(name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!log.open() ||
      write(log.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return at(file(name), std::string("cannot write the file: ") + std::strerror(errno));
  return Done{};
}

Result<Done> RunFolder::record(const std::string& name) {
  const std::string print = TRY(fingerprint(file(name)));
  const uint64_t bytes = files::file_size(file(name));
  outputs_[name] = {bytes, print};
  return append("outputs.jsonl", {{"file", name}, {"bytes", bytes}, {"fingerprint", print}});
}

Result<Done> RunFolder::metric(const Json& line) {
  return append("metrics.jsonl", line);
}

Result<Done> RunFolder::finish(const Json& summary) {
  Json outputs = Json::array();
  for (const auto& [name, output] : outputs_)
    outputs.push_back(
        {{"file", name}, {"bytes", output.bytes}, {"fingerprint", output.fingerprint}});
  summary_ = summary;
  complete_ = true;
  return write_json(
      file("manifest.json"),
      {{"verb", identity_.verb}, {"digest", digest_}, {"outputs", outputs}, {"summary", summary}});
}

}  // namespace weft::lattice
