// SPDX-License-Identifier: Apache-2.0

#include "apps/ptxbench/verdicts.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/bearer_token.h"
#include "ptxbench/service/client.h"
#include "ptxbench/service/stored_tasks.h"

namespace weft::ptxbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "ptxbench.eval.v1";

bool is_object(const Json& json, const char* member) {
  return json.is_object() && json.contains(member) && json[member].is_object();
}
bool may_be_text(const Json& json, const char* member) {
  return !json.contains(member) || json[member].is_string();
}
// Whether the member is absent or an array whose elements are all `wanted`.
template <typename Wanted>
bool may_be_list(const Json& json, const char* member, const Wanted& wanted) {
  if (!json.contains(member)) return true;
  const Json& list = json[member];
  return list.is_array() && std::all_of(list.begin(), list.end(), wanted);
}

bool is_trace(const Json& trace) {
  if (!is_object(trace, "evaluation") || !is_object(trace, "workload") ||
      !is_object(trace["workload"], "axes"))
    return false;
  const Json& axes = trace["workload"]["axes"];
  return may_be_text(trace, "definition") && may_be_text(trace, "solution") &&
         may_be_text(trace["evaluation"], "status") &&
         std::all_of(axes.begin(), axes.end(),
                     [](const Json& extent) { return extent.is_number_integer(); });
}

// Whether everything is there, as it should be, that is read without asking: verdicts come from
// files that anybody may have changed.
bool is_envelope(const Json& json) {
  if (!is_object(json, "audit") || !json.contains("traces") || json["traces"].empty()) return false;
  const Json& audit = json["audit"];
  return may_be_text(json, "status") && may_be_text(json, "kernel_sha256") &&
         may_be_list(json, "traces", is_trace) &&
         may_be_list(audit, "kernels", [](const Json& kernel) { return kernel.is_object(); }) &&
         may_be_list(audit, "stages", [](const Json& stage) {
           return stage.is_object() && may_be_text(stage, "evidence");
         });
}

bool claims_to_be_a_verdict(const Json& json) {
  return json.is_object() && json.contains("schema") && json["schema"] == kSchema;
}

// A file holds an envelope, or an answer of the service with several. Files of others hold none,
// whatever their members are called.
Result<Json> envelopes_of(const Json& json, const std::string& file) {
  Json envelopes = Json::array();
  const auto add = [&](const Json& one) {
    if (claims_to_be_a_verdict(one)) envelopes.push_back(one);
  };
  add(json);
  if (json.is_object() && json.contains("verdicts") && json["verdicts"].is_array())
    for (const Json& verdict : json["verdicts"]) add(verdict);
  if (std::all_of(envelopes.begin(), envelopes.end(), is_envelope)) return envelopes;
  return Error(Diagnostic{.message = "a verdict whose audit or traces are missing or broken",
                          .hint = "was the file changed? eval --save writes it anew",
                          .file = file});
}

Error no_verdicts(const std::string& folder) {
  return Error("no verdicts below " + folder,
               "a store of ptxbench serve in which a task ended, or files that eval --save wrote");
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

bool is_file(const std::string& name) {
  std::error_code ignored;
  return fs::is_regular_file(name, ignored);
}

Result<service::ServiceClient> client_of(const VerdictPlaces& places) {
  return service::ServiceClient::create(places.url, TRY(bearer_token(places.token_environment)));
}

Result<JudgedTask> from_server(const std::string& id, const VerdictPlaces& places) {
  service::ServiceClient client = TRY(client_of(places));
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

Result<Done> server_answers(const std::string& name, const VerdictPlaces& places) {
  if (is_file(name) || !places.store.empty()) return Done{};
  Result<service::ServiceClient> client = client_of(places);
  // A wrong URL or a token that is not set is for judged_task to report.
  if (!client.ok()) return Done{};
  TRY(client->get("/health"));
  return Done{};
}

Result<JudgedTask> judged_task(const std::string& name, const VerdictPlaces& places) {
  if (is_file(name)) {
    const Json json = TRY(read_json(name));
    const Json verdicts = TRY(envelopes_of(json, name));
    if (verdicts.empty())
      return Error("no verdict in the file: " + name,
                   "a file that eval --save or submit --save wrote");
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
    if (all.empty()) return no_verdicts(folder);
    return all;
  }
  std::error_code failure;
  std::vector<std::string> files;
  // Folders of others may lie between: what cannot be read holds no verdict of ours.
  const auto unreadable = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, unreadable, failure), end;
       !failure && entry != end; entry.increment(failure))
    if (entry->path().extension() == ".json") files.push_back(entry->path().string());
  if (failure)
    return Error("cannot read the folder " + folder + ": " + failure.message(),
                 "name a store of ptxbench serve, or a folder of files that eval --save wrote");
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const Result<Json> json = read_json(file);
    if (json.ok()) add(TRY(envelopes_of(*json, file)));
  }
  if (all.empty()) return no_verdicts(folder);
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
