// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/client.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft::service {
namespace {

Result<Json> understood(const http::Answer& answer) {
  Result<Json> json = parse_json(answer.body, "answer");
  if (answer.status < 300) return json;
  std::string detail = answer.body.substr(0, 1000);
  if (json.ok() && json->is_object() && json->contains("detail")) {
    const Json& said = (*json)["detail"];
    detail = said.is_string() ? said.get<std::string>() : to_line(said);
  }
  const char* hint = answer.status == 401 ? "--token-env names the variable with the token" : "";
  return Error(fmt::format("the server answered {}: {}", answer.status, detail), hint);
}

}  // namespace

Result<ServiceClient> ServiceClient::create(const std::string& url, const std::string& token) {
  return ServiceClient(
      TRY(http::Client::create(url, {.answer_seconds = 60, .bearer_token = token})));
}

Result<Json> ServiceClient::get(const std::string& path) {
  return understood(TRY(client_.get(path)));
}

Result<Json> ServiceClient::submit(std::string_view kind, const Json& body,
                                   double patience_seconds) {
  const std::string path = "/" + std::string(kind), text = to_line(body);
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_seconds);
  for (;;) {
    const http::Answer answer = TRY(client_.post(path, text));
    if (answer.status != 429 || std::chrono::steady_clock::now() >= deadline)
      return understood(answer);
    const double pause = std::clamp(std::strtod(answer.retry_after.c_str(), nullptr), 0.1, 60.0);
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  }
}

Result<Json> ServiceClient::wait(const std::string& task,
                                 const std::function<void(const std::string&)>& on_progress) {
  std::string shown;
  for (;;) {
    Json answer = TRY(get("/tasks/" + task + "?timeout=1"));
    const std::string status = answer.value("status", "");
    if (status != "pending" && status != "running") return answer;
    const std::string now = answer.value("progress", status);
    if (now != shown) on_progress(now);
    shown = now;
  }
}

}  // namespace weft::service
