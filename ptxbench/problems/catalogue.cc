// SPDX-License-Identifier: Apache-2.0

// Names come from the folder listing, so that opening is cheap and one broken file does not hide
// the other tasks.
#include "ptxbench/problems/catalogue.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/near_match.h"
#include "base/text_file.h"

namespace weft::problems {
namespace fs = std::filesystem;

Result<Catalogue> Catalogue::open(const std::string& folder) {
  Catalogue catalogue;
  catalogue.folder_ = folder;
  std::error_code failure;
  const fs::path root = fs::path(folder) / "definitions";
  std::vector<std::pair<std::string, std::string>> found;
  for (fs::directory_iterator operation(root, failure), end; !failure && operation != end;
       operation.increment(failure)) {
    if (!operation->is_directory()) continue;
    for (fs::directory_iterator file(operation->path(), failure); !failure && file != end;
         file.increment(failure)) {
      if (file->path().extension() != ".json") continue;
      found.emplace_back(file->path().stem().string(), operation->path().filename().string());
    }
  }
  if (failure) {
    return Error(
        fmt::format("cannot read the task folder: {}: {}", root.string(), failure.message()),
        "a trace set holds definitions/ and workloads/; name it with --problems");
  }
  if (found.empty()) {
    return Error(fmt::format("no definition in the task folder: {}", root.string()),
                 "a definition is definitions/<op>/<name>.json");
  }
  std::sort(found.begin(), found.end());
  for (auto& [name, operation] : found) {
    catalogue.names_.push_back(std::move(name));
    catalogue.operations_.push_back(std::move(operation));
  }
  return catalogue;
}

Result<Definition> Catalogue::definition(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    return Error(fmt::format("unknown task: \"{}\"", name), suggestion(name, names_, "tasks"));
  }
  const size_t index = static_cast<size_t>(found - names_.begin());
  const fs::path file =
      fs::path(folder_) / "definitions" / operations_[index] / (names_[index] + ".json");
  return read_definition(TRY(read_file(file.string())), file.string());
}

Result<std::vector<Workload>> Catalogue::workloads(const Definition& definition) const {
  const auto found = std::find(names_.begin(), names_.end(), definition.name);
  if (found == names_.end()) {
    return Error(fmt::format("definition's name is not its file's: \"{}\" in {}", definition.name,
                             definition.file),
                 "a definition's name and its file name must be the same");
  }
  const size_t index = static_cast<size_t>(found - names_.begin());
  const fs::path file =
      fs::path(folder_) / "workloads" / operations_[index] / (definition.name + ".jsonl");
  return read_workloads(TRY(read_file(file.string())), file.string(), definition);
}

Result<Task> Catalogue::task(std::string_view name, std::string_view uuid,
                             Overrides overrides) const {
  Definition chosen = TRY(definition(name));
  const std::vector<Workload> all = TRY(workloads(chosen));
  std::vector<const Workload*> matches;
  std::vector<std::string> uuids;
  for (const Workload& workload : all) {
    uuids.push_back(workload.uuid);
    if (workload.uuid == uuid) return resolve(std::move(chosen), workload, std::move(overrides));
    if (workload.uuid.starts_with(uuid)) matches.push_back(&workload);
  }
  if (uuid.empty()) {
    const auto larger = [](const Workload& a, const Workload& b) {
      return std::lexicographical_compare(
          a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
          [](const auto& x, const auto& y) { return x.second < y.second; });
    };
    const Workload& largest = *std::max_element(all.begin(), all.end(), larger);
    return resolve(std::move(chosen), largest, std::move(overrides));
  }
  if (matches.size() == 1)
    return resolve(std::move(chosen), *matches.front(), std::move(overrides));
  return Error(fmt::format("{} workload: \"{}\" (task {})",
                           matches.empty() ? "unknown" : "ambiguous", uuid, name),
               suggestion(uuid, uuids, "workloads of this task"));
}

}  // namespace weft::problems
