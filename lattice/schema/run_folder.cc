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

#include "base/fingerprint.h"
#include "base/sha256.h"
#include "base/text_file.h"

namespace weft::lattice {
namespace {

namespace files = std::filesystem;

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

// Nothing but what a start leaves that was stopped before it wrote run.json.
bool only_begun(const std::string& folder) {
  std::error_code failed;
  for (const auto& entry : files::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("run.") && !name.starts_with("configuration.yaml")) return false;
  }
  return !failed;
}

// Files and folders of that name, found first: a folder must not vanish under the search.
void remove_drafts(const std::string& folder) {
  std::error_code ignored;
  std::vector<files::path> drafts;
  files::recursive_directory_iterator at(folder, ignored), end;
  while (!ignored && at != end) {
    if (at->path().extension() == ".draft") {
      drafts.push_back(at->path());
      at.disable_recursion_pending();
    }
    at.increment(ignored);
  }
  for (const files::path& draft : drafts) files::remove_all(draft, ignored);
}

}  // namespace

Result<RunFolder> RunFolder::open(const std::string& path, RunIdentity identity) {
  RunFolder folder(path, std::move(identity));
  folder.digest_ = TRY(digest_of(folder.identity_));
  std::error_code failed;
  if (files::exists(path, failed) && !files::exists(folder.file("run.json")) && !only_begun(path))
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
    if (!run.is_object() || run.value("digest", Json()) != Json(digest_))
      return at(path_, "the folder holds a run with another configuration or other inputs",
                "name a new folder with --out, or delete this one");
  } else {
    TRY(write_file(file("configuration.yaml"), to_text(identity_.configuration)));
    Json versions = {{"format", 1}, {"compiler", __VERSION__}};
    for (const auto& [name, version] : identity_.versions) versions[name] = version;
    TRY(write_json(file("run.json"), {{"verb", identity_.verb},
                                      {"command", identity_.command},
                                      {"seed", identity_.seed},
                                      {"digest", digest_},
                                      {"inputs", identity_.inputs},
                                      {"versions", versions}}));
  }
  remove_drafts(path_);
  if (files::exists(file("outputs.jsonl"))) {
    const std::string text = TRY(read_file(file("outputs.jsonl")));
    for (const Json& line : json_lines(text)) {
      if (!line.is_object()) continue;
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
  complete_ = manifest.is_object() && manifest.contains("outputs") && manifest.contains("summary");
  for (size_t i = 0; complete_ && i < manifest["outputs"].size(); ++i)
    complete_ = has(manifest["outputs"][i].value("file", ""));
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

Result<Json> finished_summary(const std::string& folder, const std::string& verb) {
  const std::string file = folder + "/manifest.json";
  const auto none = [&](const std::string& what) {
    return at(file, what, fmt::format("run lattice {} first, and name its folder", verb));
  };
  if (!files::exists(file)) return none("the folder holds no finished run");
  const Json manifest = TRY(read_json(file));
  if (!manifest.is_object() || !manifest.value("summary", Json()).is_object())
    return none("the manifest is damaged");
  const Json of = manifest.value("verb", Json());
  if (of != Json(verb)) return none("the folder holds a run of another step: " + to_line(of));
  return manifest["summary"];
}

}  // namespace weft::lattice
