// SPDX-License-Identifier: Apache-2.0

#include "apps/ptxbench/verdicts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ptxbench/service/client.h"
#include "ptxbench/service/stored_tasks.h"

namespace weft::ptxbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "ptxbench.eval.v1";

// A file holds an envelope, or an answer of the service with several.
Json envelopes_of(const Json& json) {
  if (!json.is_object()) return Json::array();
  if (json.value("schema", "") == kSchema) return Json::array({json});
  return json.value("verdicts", Json::array());
}

Result<JudgedTask> from_store(const std::string& id, const std::string& store) {
  const std::vector<service::StoredTask> found = TRY(service::stored_tasks(store, id));
  if (found.size() != 1)
    return Error(
        fmt::format("{} task: {} (in {})", found.empty() ? "unknown" : "ambiguous", id, store),
        "only tasks that ended are found");
  const service::StoredTask& task = found.front();
  if (task.record.state != service::State::Completed)
    return Error(fmt::format("the task has no verdict: it {}: {}", name(task.record.state),
                             task.record.error));
  const Json result = TRY(parse_json(task.record.result, "stored result"));
  return JudgedTask{task.record.id, task.request, result.value("verdicts", Json::array())};
}

Result<JudgedTask> from_server(const std::string& id, const VerdictPlaces& places) {
  const char* token =
      places.token_environment.empty() ? nullptr : std::getenv(places.token_environment.c_str());
  service::ServiceClient client =
      TRY(service::ServiceClient::create(places.url, token != nullptr ? token : ""));
  const Json task = TRY(client.get("/tasks/" + id));
  if (task.value("status", "") != "completed")
    return Error("the task has no verdict: it is " + task.value("status", ""));
  const Json request = TRY(client.get("/tasks/" + id + "/request"));
  return JudgedTask{id, to_line(request), task.value("verdicts", Json::array())};
}

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : to_line(json);
}

// Seconds differ from run to run, and so do the places of allocations.
Json executed(const Json& verdict) {
  const Json& audit = verdict.at("audit");
  Json kernels = Json::array();
  for (Json kernel : audit.value("kernels", Json::array())) {
    kernel.erase("seconds");
    kernels.push_back(std::move(kernel));
  }
  return {{"executed", audit.value("executed", Json())},
          {"operations", audit.value("operations", Json())},
          {"kernels", std::move(kernels)}};
}

}  // namespace

Result<JudgedTask> judged_task(const std::string& name, const VerdictPlaces& places) {
  std::error_code ignored;
  if (fs::is_regular_file(name, ignored)) {
    const Json verdicts = envelopes_of(TRY(read_json(name)));
    if (verdicts.empty()) return Error("no verdict in the file: " + name);
    return JudgedTask{"", "", verdicts};
  }
  if (!places.store.empty()) return from_store(name, places.store);
  return from_server(name, places);
}

Result<std::vector<Json>> verdicts_below(const std::string& folder) {
  std::vector<Json> all;
  const auto add = [&](const Json& envelopes) {
    for (const Json& envelope : envelopes) all.push_back(envelope);
  };
  if (service::is_store(folder)) {
    for (const service::StoredTask& task : TRY(service::stored_tasks(folder))) {
      if (task.record.state != service::State::Completed) continue;
      add(TRY(parse_json(task.record.result, "stored result")).value("verdicts", Json::array()));
    }
    return all;
  }
  std::error_code failure;
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder, failure))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  if (failure) return Error("cannot read the folder " + folder + ": " + failure.message());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const Result<Json> json = read_json(file);
    if (json.ok()) add(envelopes_of(*json));
  }
  if (all.empty())
    return Error("no verdicts below " + folder,
                 "a store of ptxbench serve, or files that eval --save wrote");
  return all;
}

std::vector<std::string> disagreements(const Json& first, const Json& second) {
  std::vector<std::string> lines;
  const auto compare = [&](const char* what, const Json& a, const Json& b) {
    if (a != b) lines.push_back(fmt::format("{}: {} and {}", what, text_of(a), text_of(b)));
  };
  compare("kernel", first.value("kernel_sha256", ""), second.value("kernel_sha256", ""));
  compare("status", first.value("status", ""), second.value("status", ""));
  const auto evaluation = [](const Json& verdict) {
    return verdict.at("traces").at(0).at("evaluation");
  };
  const auto error = [&](const Json& verdict, const char* name) {
    const Json correctness = evaluation(verdict).value("correctness", Json());
    return correctness.is_object() ? correctness.value(name, Json()) : Json();
  };
  for (const char* name : {"max_absolute_error", "max_relative_error"})
    compare(name, error(first, name), error(second, name));
  const Json a = executed(first), b = executed(second);
  compare("executed", a["executed"], b["executed"]);
  compare("operations", a["operations"], b["operations"]);
  if (a["kernels"] != b["kernels"]) lines.emplace_back("kernels: executed counts differ by line");
  return lines;
}

}  // namespace weft::ptxbench
