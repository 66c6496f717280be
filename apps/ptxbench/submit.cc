// SPDX-License-Identifier: Apache-2.0

// ptxbench submit: hands a kernel to a server, and waits for the verdict if told to.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/bearer_token.h"
#include "apps/ptxbench/console.h"
#include "apps/ptxbench/task_text.h"
#include "apps/ptxbench/verbs.h"
#include "base/json.h"
#include "ptxbench/judge/candidate.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/service/client.h"

namespace weft::ptxbench {
namespace {

constexpr double kPatience = 600;  // with a full queue, when waiting

struct Options {
  std::string kernel, task, workload, set, url = "http://127.0.0.1:10000", kind = "evaluate",
                                           token_environment, source_root, save;
  bool wait = false, all = false, fresh = false, json = false;
  double timeout = 0;
};

// The one asked for, by the beginning of its uuid, or the one with the most work.
Result<std::string> choose(const Json& workloads, const std::string& wanted) {
  const Json* chosen = nullptr;
  for (const Json& workload : workloads) {
    const std::string uuid = workload.value("uuid", "");
    if (!wanted.empty()) {
      if (!uuid.starts_with(wanted)) continue;
      if (uuid != wanted && chosen != nullptr)
        return Error("ambiguous workload: \"" + wanted + "\"", "write more of its uuid");
      chosen = &workload;
    } else if (chosen == nullptr || workload["axes"].get<std::map<std::string, int64_t>>() >
                                        (*chosen)["axes"].get<std::map<std::string, int64_t>>()) {
      chosen = &workload;
    }
  }
  if (chosen == nullptr) return Error("unknown workload: \"" + wanted + "\"");
  return chosen->value("uuid", "");
}

Result<Json> body_of(const Options& options, service::ServiceClient& client) {
  const judge::Candidate candidate =
      TRY(judge::load_candidate(options.kernel, options.source_root));
  const bool cuda = candidate.kind == judge::Candidate::Kind::Cuda;
  const std::string file = cuda ? "kernel.cu" : "kernel.ptx";
  Json body = {{"solution",
                {{"name", candidate.name},
                 {"definition", options.task},
                 {"author", "ptxbench submit"},
                 {"spec",
                  {{"language", cuda ? "cuda" : "ptx"},
                   {"target_hardware", {"cuda"}},
                   {"entry_point", file + "::run"},
                   {"dependencies", Json::array()},
                   {"destination_passing_style", true},
                   {"binding", "tvm-ffi"}}},
                 {"sources", {{{"path", file}, {"content", candidate.source}}}}}}};
  // Asked in any case: the answer also says that the task is unknown, or the token wrong.
  const Json workloads = TRY(client.get("/definitions/" + options.task + "/workloads"));
  if (!options.all) {
    const std::string uuid = TRY(choose(workloads, options.workload));
    body["workload_uuids"] = {uuid};
  }
  Json axes = Json::object();
  for (const auto& [name, value] : TRY(problems::parse_overrides(options.set))) axes[name] = value;
  if (!axes.empty()) body["axes"] = axes;
  if (options.fresh) body["fresh"] = true;
  if (options.timeout > 0) body["timeout"] = static_cast<int64_t>(options.timeout);
  return body;
}

int report(const Options& options, const Json& task) {
  if (!options.save.empty()) {
    const Result<Done> written = write_json(options.save, task);
    if (!written.ok()) return fail(written.error(), kEnvironment);
  }
  if (options.json)
    print_json(task);
  else
    print(task_text(task));
  const std::string status = task.value("status", "");
  if (status == "completed") return all_passed(task) ? kPassed : kFailed;
  return kEnvironment;
}

int submit(Options& options) {
  const Result<std::string> token = bearer_token(options.token_environment);
  if (!token.ok()) return fail(token.error(), kUsage);
  auto client = service::ServiceClient::create(options.url, *token);
  if (!client.ok()) return fail(client.error(), kUsage);
  const Result<Json> health = client->get("/health");
  if (!health.ok()) return fail(health.error(), kEnvironment);
  const Result<Json> body = body_of(options, *client);
  if (!body.ok()) return fail(body.error(), kUsage);
  const Result<Json> accepted = client->submit(options.kind, *body, options.wait ? kPatience : 0);
  if (!accepted.ok()) return fail(accepted.error(), kEnvironment);
  const std::string id = accepted->value("task_id", "");
  if (!options.wait) {
    if (options.json)
      print_json(*accepted);
    else
      print(id + "\n");
    return kPassed;
  }
  const bool live = !options.json && isatty(STDERR_FILENO);
  if (!live && !options.json) std::fprintf(stderr, "task %s\n", id.c_str());
  const Result<Json> task = client->wait(id, [&](const std::string& progress) {
    std::fprintf(stderr, live ? "\r\033[K%s: %s" : "%s: %s\n", id.c_str(), progress.c_str());
  });
  if (live) std::fprintf(stderr, "\r\033[K");
  if (!task.ok()) return fail(task.error(), kEnvironment);
  return report(options, *task);
}

}  // namespace

void add_submit(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("submit", "Hands a kernel to a server");
  verb->footer(
      "Exit codes: 0 accepted (with --wait: passed), 1 failed the check, 2 usage, 3 environment.\n"
      "Example:\n"
      "  ptxbench submit kernel.cu --task gemm_n128_k2048 --set M=16 --wait");
  verb->add_option("kernel", options->kernel, "A .cu or .ptx file")->required();
  verb->add_option("--task", options->task, "Task: see ptxbench tasks list")->required();
  verb->add_option("--workload", options->workload,
                   "Workload, by uuid or its beginning (default: the largest)");
  verb->add_flag("--all", options->all, "All workloads of the task");
  verb->add_option("--set", options->set, "Axis values that replace the workload's: M=256,K=512");
  verb->add_option("--url", options->url, "The server");
  verb->add_option("--kind", options->kind, "What to ask for")
      ->check(CLI::IsMember({"evaluate", "sanitize", "profile", "debug"}));
  verb->add_option("--timeout", options->timeout, "Seconds that the candidate may run")
      ->check(CLI::Range(1.0, 86400.0));
  verb->add_flag("--wait", options->wait, "Wait for the verdict");
  verb->add_flag("--fresh", options->fresh, "Judge again although it was judged before");
  verb->add_option("--token-env", options->token_environment,
                   "Environment variable with the bearer token");
  verb->add_option("--source-root", options->source_root,
                   "Folder that the kernel may include from (default: the parent of its own)");
  verb->add_option("--save", options->save, "Also write the answer to this file");
  verb->add_flag("--json", options->json, "Print the server's answer");
  verb->callback([options, &exit_code] { exit_code = submit(*options); });
}

}  // namespace weft::ptxbench
