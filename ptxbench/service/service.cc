// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/service.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/server.h"
#include "base/log.h"
#include "ptxbench/service/answers.h"
#include "ptxbench/service/memory_scratch.h"
#include "ptxbench/service/request.h"
#include "ptxbench/service/trace_set.h"

namespace weft::service {
namespace {

using http::refusal;
using http::Request;
using http::Response;

constexpr size_t kConnections = 768;
// Waiting clients may hold so many of them; the rest is for those who want an answer now.
constexpr int kWaiting = 640;
constexpr double kLongestWait = 3600;
constexpr const char* kVersion = "1.0";

// Takes the same time wherever the first difference is.
bool same_secret(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[b.empty() ? 0 : i % b.size()]);
  return difference == 0 && !b.empty();
}

std::string random_digits() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

Response broken(const Error& error) {
  log(LogLevel::Error, format(error));
  return refusal(503, error.message());
}

Response json(const Json& value) {
  return {.body = to_line(value)};
}

Response wrong(const Issues& issues) {
  return {.status = 422, .body = to_line(Json{{"detail", issues.to_json()}})};
}

Response no_json(const Error& error) {
  Issues issues;
  issues.add({"body"}, format(error), "json_invalid");
  return wrong(issues);
}

std::optional<double> seconds_of(const Request& request) {
  const auto found = request.query.find("timeout");
  if (found == request.query.end()) return 0;
  double value = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [last, failure] = std::from_chars(found->second.data(), end, value);
  if (failure != std::errc() || last != end || !(value >= 0 && value <= kLongestWait))
    return std::nullopt;
  return value;
}

class HttpService : public Service {
 public:
  HttpService(ServiceOptions options, TraceSet traces, std::unique_ptr<Queue> queue)
      : options_(std::move(options)),
        traces_(std::move(traces)),
        queue_(std::move(queue)),
        crew_(*queue_, metrics_, with(options_.crew, memory_.path())) {}

  Result<Done> bind() {
    http::ServerOptions options{
        .host = options_.host, .port = options_.port, .connections = kConnections};
    if (!options_.token.empty()) {
      options.guard = [this](const Request& request) -> std::optional<Response> {
        if (request.path == "/health" ||
            same_secret(request.authorization, "Bearer " + options_.token))
          return std::nullopt;
        Response response = refusal(401, "a bearer token is required");
        response.headers.emplace_back("WWW-Authenticate", "Bearer");
        return response;
      };
    }
    options.on_answer = [this](const Request& request, const Response& response) {
      metrics_.count("ptxbench_http_requests_total",
                     fmt::format("method=\"{}\",code=\"{}\"", request.method, response.status));
    };
    server_ = TRY(http::Server::create(std::move(options), routes()));
    return Done{};
  }

  int port() const override { return server_->port(); }

  void serve() override {
    crew_.start();
    server_->serve();
    queue_->stop();
    crew_.stop();
    if (closer_.joinable()) closer_.join();
  }

  void stop() override {
    // Waiting clients first: the server ends when its last answer is out.
    queue_->stop();
    server_->stop();
  }

 private:
  std::vector<http::Route> routes() {
    const auto bound = [this](Response (HttpService::*handler)(const Request&)) {
      return [this, handler](const Request& request) { return (this->*handler)(request); };
    };
    const auto question = [this](Kind kind) {
      return [this, kind](const Request& request) { return submit(kind, request); };
    };
    return {{"GET", "/", bound(&HttpService::root)},
            {"GET", "/health", bound(&HttpService::health)},
            {"GET", "/metrics", bound(&HttpService::numbers)},
            {"GET", "/openapi.json", [](const Request&) { return Response{.body = kOpenApi}; }},
            {"GET", "/definitions", bound(&HttpService::definitions)},
            {"GET", "/definitions/{name}", bound(&HttpService::definition)},
            {"GET", "/definitions/{name}/workloads", bound(&HttpService::workloads)},
            {"GET", "/workloads/{uuid}", bound(&HttpService::workload)},
            {"POST", "/evaluate", question(Kind::Evaluate)},
            {"POST", "/sanitize", question(Kind::Sanitize)},
            {"POST", "/profile", question(Kind::Profile)},
            {"POST", "/debug", question(Kind::Debug)},
            {"POST", "/tasks/batch", bound(&HttpService::batch)},
            {"GET", "/tasks/{task_id}", bound(&HttpService::task)},
            {"DELETE", "/tasks/{task_id}", bound(&HttpService::cancel)},
            {"GET", "/tasks/{task_id}/request", bound(&HttpService::stored_request)},
            {"POST", "/shutdown", bound(&HttpService::shutdown)}};
  }

  static CrewOptions with(CrewOptions crew, const std::string& memory_scratch) {
    crew.memory_scratch = memory_scratch;
    return crew;
  }

  Response root(const Request&) {
    Json endpoints = Json::array();
    const Json api = Json::parse(kOpenApi);
    for (const auto& [path, methods] : api.at("paths").items())
      for (const auto& [method, operation] : methods.items()) {
        std::string word = method;
        for (char& letter : word) letter = static_cast<char>(std::toupper(letter));
        endpoints.push_back(
            {{"method", word}, {"path", path}, {"description", operation.value("summary", "")}});
      }
    return json({{"name", "ptxbench"},
                 {"version", kVersion},
                 {"docs", "/openapi.json"},
                 {"endpoints", std::move(endpoints)}});
  }

  Response health(const Request&) {
    const Result<QueueCounts> counts = queue_->counts();
    if (!counts.ok()) return broken(counts.error());
    Json workers = Json::array();
    for (const WorkerState& state : crew_.states()) {
      Json worker = {{"device", state.device},
                     {"healthy", state.healthy},
                     {"name", state.name},
                     {"process", state.process},
                     {"task", state.task.empty() ? Json(nullptr) : Json(state.task)}};
      if (!state.problem.empty()) worker["problem"] = state.problem;
      workers.push_back(std::move(worker));
    }
    return json({{"status", "ok"},
                 {"workers", std::move(workers)},
                 {"queue_size", counts->pending},
                 {"running", counts->running}});
  }

  Response numbers(const Request&) {
    const Result<QueueCounts> counts = queue_->counts();
    if (!counts.ok()) return broken(counts.error());
    const auto tasks = [&](State state, uint64_t number) {
      metrics_.set("ptxbench_tasks", fmt::format("state=\"{}\"", name(state)),
                   static_cast<double>(number));
    };
    tasks(State::Pending, counts->pending);
    tasks(State::Running, counts->running);
    tasks(State::Completed, counts->completed);
    tasks(State::Failed, counts->failed);
    tasks(State::Cancelled, counts->cancelled);
    double healthy = 0;
    for (const WorkerState& state : crew_.states()) healthy += state.healthy ? 1 : 0;
    metrics_.set("ptxbench_workers_healthy", "", healthy);
    metrics_.set("ptxbench_resident_bytes", "", resident_bytes());
    metrics_.set("ptxbench_waiting_clients", "", waiting_);
    return {.body = metrics_.text(), .content_type = "text/plain; version=0.0.4"};
  }

  Response definitions(const Request&) {
    Json list = Json::array();
    for (const DefinitionEntry& entry : traces_.definitions())
      list.push_back(
          {{"name", entry.name},
           {"description", entry.description.empty() ? Json(nullptr) : Json(entry.description)}});
    return json(list);
  }

  Response definition(const Request& request) {
    const DefinitionEntry* entry = traces_.find(request.parts.at("name"));
    if (entry == nullptr) return refusal(404, "Definition not found: " + request.parts.at("name"));
    return {.body = entry->definition};
  }

  Response workloads(const Request& request) {
    const DefinitionEntry* entry = traces_.find(request.parts.at("name"));
    if (entry == nullptr) return refusal(404, "Definition not found: " + request.parts.at("name"));
    return {.body = fmt::format("[{}]", fmt::join(entry->workloads, ","))};
  }

  Response workload(const Request& request) {
    const std::string* found = traces_.workload(request.parts.at("uuid"));
    if (found == nullptr) return refusal(404, "Workload not found: " + request.parts.at("uuid"));
    return {.body = *found};
  }

  Response submit(Kind kind, const Request& request) {
    const Result<Json> body = parse_json(request.body, "body");
    if (!body.ok()) return no_json(body.error());
    Issues issues;
    JudgeRequest question = read_request(kind, *body, issues);
    if (!issues.none()) return wrong(issues);
    const DefinitionEntry* entry = traces_.find(question.solution.definition);
    if (entry == nullptr)
      return refusal(400, "Definition not found: " + question.solution.definition);
    question.stamp = entry->stamp;
    if (question.fresh) question.nonce = random_digits();
    const Submission submission = to_submission(question);
    const Result<Accepted> accepted = queue_->submit(submission);
    if (!accepted.ok()) return broken(accepted.error());
    const char* const words[] = {"fresh", "known", "full"};
    metrics_.count("ptxbench_submissions_total",
                   fmt::format("kind=\"{}\",answer=\"{}\"", name(kind),
                               words[static_cast<size_t>(*accepted)]));
    if (*accepted == Accepted::Full) return full();
    return json({{"task_id", submission.id}, {"normalized_solution_name", submission.solution}});
  }

  Response full() {
    Response response =
        refusal(429, fmt::format("the queue is full: {} tasks wait", options_.limits.pending));
    // A worker becomes free at least every few seconds on small tasks; nobody knows for large ones.
    const double seconds = static_cast<double>(options_.limits.pending) /
                           (20.0 * static_cast<double>(std::max<size_t>(1, crew_.states().size())));
    response.headers.emplace_back(
        "Retry-After", std::to_string(static_cast<int>(std::clamp(std::ceil(seconds), 1.0, 60.0))));
    return response;
  }

  // Waits first, but only as long as others still get through.
  Result<std::optional<Json>> answers(const std::vector<std::string>& ids, double seconds,
                                      std::string& unknown) {
    if (seconds > 0 && ++waiting_ <= kWaiting) {
      const Result<Done> waited = queue_->wait(ids, seconds);
      --waiting_;
      if (!waited.ok()) return waited.error();
    } else if (seconds > 0) {
      --waiting_;
    }
    Json list = Json::array();
    for (const std::string& id : ids) {
      const std::optional<TaskRecord> record = TRY(queue_->find(id));
      if (!record) {
        unknown = id;
        return std::optional<Json>();
      }
      list.push_back(task_answer(*record, crew_.progress(id)));
    }
    return std::optional(std::move(list));
  }

  Response task(const Request& request) {
    const std::optional<double> seconds = seconds_of(request);
    if (!seconds) return refusal(422, "timeout: a number of seconds from 0 to 3600");
    std::string unknown;
    const auto list = answers({request.parts.at("task_id")}, *seconds, unknown);
    if (!list.ok()) return broken(list.error());
    if (!*list) return refusal(404, "Task not found: " + unknown);
    return json((**list)[0]);
  }

  Response batch(const Request& request) {
    const Result<Json> body = parse_json(request.body, "body");
    if (!body.ok()) return no_json(body.error());
    Issues issues;
    Fields fields(*body, {"body"}, issues);
    fields.only({"task_ids", "timeout"});
    const auto ids = fields.optional_texts("task_ids");
    const double seconds = fields.optional_number("timeout", 0, kLongestWait).value_or(0);
    if (!ids && issues.none()) fields.wrong("task_ids", "Field required", "missing");
    if (!issues.none()) return wrong(issues);
    std::string unknown;
    // Unknown ones are refused at once, not after the wait.
    const auto before = answers(*ids, 0, unknown);
    if (!before.ok()) return broken(before.error());
    if (!*before) return refusal(404, "Task not found: " + unknown);
    if (seconds == 0) return json(**before);
    const auto list = answers(*ids, seconds, unknown);
    if (!list.ok()) return broken(list.error());
    return *list ? json(**list) : refusal(404, "Task not found: " + unknown);
  }

  Response cancel(const Request& request) {
    const std::string& id = request.parts.at("task_id");
    const Result<std::optional<State>> state = queue_->cancel(id);
    if (!state.ok()) return broken(state.error());
    if (!*state) return refusal(404, "Task not found: " + id);
    if (**state != State::Cancelled)
      return refusal(409, fmt::format("the task has ended: {}", name(**state)));
    return task(request);
  }

  Response stored_request(const Request& request) {
    const std::string& id = request.parts.at("task_id");
    const Result<std::optional<std::string>> stored = queue_->request(id);
    if (!stored.ok()) return broken(stored.error());
    if (!*stored) return refusal(404, "Task not found: " + id);
    return {.body = **stored};
  }

  Response shutdown(const Request&) {
    const std::lock_guard lock(closing_);
    if (!closer_.joinable()) {
      closer_ = std::thread([this] {
        // So that the answer is out before the door shuts.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stop();
      });
    }
    return json({{"status", "shutting_down"}});
  }

  const ServiceOptions options_;
  const TraceSet traces_;
  Metrics metrics_;
  const MemoryScratch memory_ = MemoryScratch::create();
  std::unique_ptr<Queue> queue_;
  Crew crew_;
  std::atomic<int> waiting_ = 0;
  std::unique_ptr<http::Server> server_;
  std::mutex closing_;
  std::thread closer_;
};

}  // namespace

Result<std::unique_ptr<Service>> Service::create(ServiceOptions options) {
  if (options.crew.devices.empty()) return Error("a service needs a device", "--device emulated");
  options.crew.scratch =
      (std::filesystem::absolute(options.store) / "scratch" / std::to_string(getpid())).string();
  TraceSet traces = TRY(TraceSet::open(options.problems));
  std::unique_ptr<Queue> queue;
  if (options.redis.empty()) {
    queue = TRY(open_sqlite_queue({.folder = options.store,
                                   .wait_for_disk = options.wait_for_disk,
                                   .limits = options.limits}));
    // Only this server has the store open: what lies there is of one that died.
    std::error_code ignored;
    std::filesystem::remove_all(std::filesystem::path(options.store) / "scratch", ignored);
  } else {
    queue = TRY(open_redis_queue({.url = options.redis, .limits = options.limits}));
  }
  auto service =
      std::make_unique<HttpService>(std::move(options), std::move(traces), std::move(queue));
  TRY(service->bind());
  return std::unique_ptr<Service>(std::move(service));
}

}  // namespace weft::service
