// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/chat/chat_client.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/printable.h"
#include "ptxbench/chat/answer_stream.h"

namespace weft::chat {
namespace {

constexpr double kLongestAsked = 3600;  // seconds that a server may tell us to wait

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Servers say in many words that a conversation is too long; these are the ones in use.
bool says_overflow(const std::string& body) {
  for (const char* words : {"context_length", "context length", "context window",
                            "prompt is too long", "maximum context", "too many tokens"})
    if (body.find(words) != std::string::npos) return true;
  return false;
}

// The message of an error body, or the beginning of whatever it is.
std::string said(const std::string& body) {
  const Result<Json> json = parse_json(body);
  if (json.ok() && json->is_object() && json->contains("error")) {
    const Json& error = (*json)["error"];
    if (error.is_object() && error.contains("message") && error["message"].is_string())
      return error["message"].get<std::string>().substr(0, 500);
    return to_line(error).substr(0, 500);
  }
  return printable(body.substr(0, 200));
}

// Seconds, or a date, which is worth the usual pause.
std::optional<double> seconds_in(const std::string& header) {
  char* end = nullptr;
  const double seconds = std::strtod(header.c_str(), &end);
  if (header.empty() || *end != '\0' || !(seconds >= 0)) return std::nullopt;
  return seconds;
}

bool may_pass(int status) {
  return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

}  // namespace

double RateLimit::wait_seconds() {
  const std::lock_guard lock(mutex_);
  const double time = now(), start = std::max(time, free_at_);
  if (per_minute_ > 0) free_at_ = start + 60 / per_minute_;
  return start - time;
}

void RateLimit::hold(double seconds) {
  const std::lock_guard lock(mutex_);
  free_at_ = std::max(free_at_, now() + seconds);
}

struct ChatClient::Attempt {
  std::optional<Reply> reply;
  Error error;
  bool again = false;           // it may pass
  std::optional<double> pause;  // that the server asks for
};

Result<std::pair<std::string, std::string>> split_url(const std::string& url) {
  const size_t host = url.find("://");
  if (host == url.npos) return Error("not the URL of an endpoint: " + url, "like https://host/v1");
  const size_t slash = std::min(url.find('/', host + 3), url.size());
  std::string path = url.substr(slash);
  while (path.ends_with('/')) path.pop_back();
  return std::pair(url.substr(0, slash), path);
}

Result<std::string> request_body(const Question& question) {
  Json body = TRY(parse_json(question.options, "options of the model"));
  if (!body.is_object()) return Error("options of the model are no object");
  body["model"] = question.model;
  Json messages = Json::array();
  for (const Message& message : question.messages)
    messages.push_back({{"role", message.role}, {"content", message.content}});
  body["messages"] = std::move(messages);
  if (question.seed) body["seed"] = *question.seed;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  return to_line(body);
}

ChatClient::ChatClient(Endpoint endpoint, std::string path, std::string key, http::Client client,
                       RateLimit* limit, const std::atomic<bool>* cancel)
    : endpoint_(std::move(endpoint)),
      path_(std::move(path)),
      key_(std::move(key)),
      client_(std::move(client)),
      limit_(limit),
      cancel_(cancel) {}

Result<ChatClient> ChatClient::create(Endpoint endpoint, RateLimit* limit,
                                      const std::atomic<bool>* cancel) {
  const auto parts = TRY(split_url(endpoint.url));
  std::string key;
  if (!endpoint.key_variable.empty()) {
    const char* value = std::getenv(endpoint.key_variable.c_str());
    if (value == nullptr || *value == '\0')
      return Error("the variable with the endpoint's key is not set: " + endpoint.key_variable,
                   "set it in the environment; keys are never read from files");
    key = value;
  }
  http::Client client = TRY(http::Client::create(
      parts.first, {.connect_seconds = endpoint.connect_seconds,
                    .answer_seconds = std::min(endpoint.silence_seconds, endpoint.answer_seconds),
                    .bearer_token = key}));
  std::string path = parts.second + "/chat/completions";
  return ChatClient(std::move(endpoint), std::move(path), std::move(key), std::move(client), limit,
                    cancel);
}

std::string ChatClient::without_key(std::string text) const {
  if (key_.empty()) return text;
  for (size_t at; (at = text.find(key_)) != std::string::npos;)
    text.replace(at, key_.size(), "[key]");
  return text;
}

bool ChatClient::wait(double seconds) const {
  const double end = now() + seconds;
  for (double left = seconds; left > 0 && !cancelled(); left = end - now())
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.1)));
  return !cancelled();
}

ChatClient::Attempt ChatClient::attempt(const std::string& body) {
  AnswerStream stream;
  const double deadline = now() + endpoint_.answer_seconds;
  bool late = false;
  const Result<http::Answer> answer = client_.post(path_, body, [&](std::string_view part) {
    late = now() > deadline;
    return !late && !cancelled() && stream.add(part);
  });
  Attempt attempt;
  if (late) {
    attempt.again = true;
    attempt.error =
        Error(fmt::format("{} took longer than {:g} s", endpoint_.url, endpoint_.answer_seconds));
    return attempt;
  }
  if (answer.ok() && answer->status >= 300) {
    const std::string message = without_key(said(answer->body));
    if (answer->status < 500 && answer->status != 429 && says_overflow(answer->body)) {
      attempt.reply = Reply{.ending = Ending::ContextOverflow};
      return attempt;
    }
    attempt.again =
        may_pass(answer->status) && answer->body.find("insufficient_quota") == std::string::npos;
    attempt.pause = seconds_in(answer->retry_after);
    const bool refused = answer->status == 401 || answer->status == 403;
    attempt.error =
        Error(fmt::format("{} answered {}: {}", endpoint_.url, answer->status, message),
              refused ? "key_variable names the environment variable with the key" : "");
    return attempt;
  }
  // What did arrive says more than a broken connection does.
  Result<Reply> reply = stream.finish();
  if (reply.ok() && answer.ok()) {
    attempt.reply = std::move(*reply);
  } else if (stream.fault() == AnswerStream::Fault::NotChat) {
    attempt.error = reply.error();
  } else {
    attempt.again = true;
    attempt.error = answer.ok() ? reply.error() : answer.error();
  }
  for (Diagnostic& diagnostic : attempt.error.diagnostics)
    diagnostic.message = without_key(std::move(diagnostic.message));
  return attempt;
}

Result<Reply> ChatClient::ask(const Question& question) {
  const std::string body = TRY(request_body(question));
  static thread_local std::mt19937 random{std::random_device()()};
  double pause = endpoint_.first_pause_seconds;
  for (unsigned number = 1;; ++number) {
    if (limit_ != nullptr && !wait(limit_->wait_seconds())) return Error("cancelled");
    Attempt made = attempt(body);
    if (cancelled()) return Error("cancelled");
    if (made.reply) {
      Usage& usage = made.reply->usage;
      if (usage.estimated) usage.prompt = static_cast<int64_t>(body.size()) / 4;
      return std::move(*made.reply);
    }
    if (!made.again) return made.error;
    if (number >= endpoint_.attempts) {
      Diagnostic last = made.error.diagnostics.front();
      last.message += fmt::format(" (after {} attempts)", number);
      return Error(std::move(last));
    }
    // Half to all of the pause, so that clients that failed together do not come back together.
    double seconds = pause * std::uniform_real_distribution<double>(0.5, 1)(random);
    if (made.pause) {
      seconds = std::min(*made.pause, kLongestAsked);
      if (limit_ != nullptr) limit_->hold(seconds);
    }
    pause = std::min(2 * pause, endpoint_.longest_pause_seconds);
    if (!wait(seconds)) return Error("cancelled");
  }
}

}  // namespace weft::chat
