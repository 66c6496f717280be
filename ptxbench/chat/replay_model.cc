// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/chat/replay_model.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/client.h"
#include "ptxbench/chat/answer_stream.h"
#include "ptxbench/chat/chat_client.h"

namespace weft::chat {
namespace {

constexpr const char* kEvents = "text/event-stream";

http::Response refusal(int status, const std::string& message) {
  return {.status = status, .body = to_line(Json{{"error", {{"message", message}}}})};
}

std::string content_of(const Json& message) {
  const auto found = message.find("content");
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Whether `text` has `name` as a word of its own, and not as part of a longer name.
bool mentions(const std::string& text, const std::string& name) {
  const auto letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !letter(text[at - 1])) && (end == text.size() || !letter(text[end])))
      return true;
  }
  return false;
}

const char* finish_reason(Ending ending) {
  switch (ending) {
    case Ending::Cut:
    case Ending::OnlyReasoning:
      return "length";
    case Ending::Filtered:
      return "content_filter";
    default:
      return "stop";
  }
}

Json usage_json(const Usage& usage, size_t prompt_bytes, const Reply& reply) {
  Usage shown = usage;
  if (usage.estimated) {
    shown.prompt = static_cast<int64_t>(prompt_bytes / 4);
    shown.reasoning = static_cast<int64_t>(reply.reasoning.size() / 4);
    shown.completion = shown.reasoning + static_cast<int64_t>(reply.content.size() / 4);
  }
  return {{"prompt_tokens", shown.prompt},
          {"completion_tokens", shown.completion},
          {"total_tokens", shown.prompt + shown.completion},
          {"completion_tokens_details", {{"reasoning_tokens", shown.reasoning}}}};
}

Json chunk(const std::string& model, Json choices) {
  return {{"id", "replayed"},
          {"object", "chat.completion.chunk"},
          {"model", model},
          {"choices", std::move(choices)}};
}

std::string event(const Json& json) {
  return "data: " + to_line(json) + "\n\n";
}

std::string streamed(const Reply& reply, const std::string& model, const Json& usage) {
  const auto delta = [&](Json content, Json finish) {
    return event(chunk(
        model,
        {{{"index", 0}, {"delta", std::move(content)}, {"finish_reason", std::move(finish)}}}));
  };
  std::string text;
  if (!reply.reasoning.empty()) text += delta({{"reasoning_content", reply.reasoning}}, nullptr);
  text += delta({{"role", "assistant"}, {"content", reply.content}}, nullptr);
  text += delta(Json::object(), finish_reason(reply.ending));
  Json last = chunk(model, Json::array());
  last["usage"] = usage;
  return text + event(last) + "data: [DONE]\n\n";
}

Json whole(const Reply& reply, const std::string& model, const Json& usage) {
  Json message = {{"role", "assistant"}, {"content", reply.content}};
  if (!reply.reasoning.empty()) message["reasoning_content"] = reply.reasoning;
  return {{"id", "replayed"},
          {"object", "chat.completion"},
          {"model", model},
          {"choices",
           {{{"index", 0},
             {"message", std::move(message)},
             {"finish_reason", finish_reason(reply.ending)}}}},
          {"usage", usage}};
}

}  // namespace

ReplayModel::ReplayModel(Recordings recordings)
    : conversations_(std::move(recordings.conversations)) {
  for (Exchange& exchange : recordings.exchanges)
    exchanges_[exchange.key].push_back(std::move(exchange.answer));
}

const Reply* ReplayModel::find(const Json& request) const {
  const Json& messages = request.at("messages");
  const auto seed = static_cast<size_t>(std::max<int64_t>(request.value("seed", int64_t{0}), 0));
  if (const auto known = exchanges_.find(messages_key(messages)); known != exchanges_.end())
    return &known->second[seed % known->second.size()];

  std::vector<std::string> answers;
  std::string question;
  for (const Json& message : messages) {
    const std::string role = message.value("role", "");
    if (role == "assistant") answers.push_back(content_of(message));
    if (role == "user" && question.empty()) question = content_of(message);
  }
  const std::string model = request.value("model", "");
  std::vector<const Conversation*> fitting, of_model;
  for (const Conversation& conversation : conversations_) {
    if (!conversation.name.empty() && !mentions(question, conversation.name)) continue;
    fitting.push_back(&conversation);
    if (conversation.model == model) of_model.push_back(&conversation);
  }
  if (!of_model.empty()) fitting = std::move(of_model);
  // The one that the seed chose for the first answer, unless the client went another way.
  for (size_t i = 0; i < fitting.size(); ++i) {
    const std::vector<Reply>& recorded = fitting[(seed + i) % fitting.size()]->answers;
    bool same = recorded.size() > answers.size();
    for (size_t k = 0; same && k < answers.size(); ++k)
      same = (recorded[k].content.empty() ? kNoText : recorded[k].content) == answers[k];
    if (same) return &recorded[answers.size()];
    if (answers.empty()) break;
  }
  return nullptr;
}

http::Response ReplayModel::answer(const http::Request& from) const {
  const Result<Json> request = parse_json(from.body);
  if (!request.ok() || !request->is_object() || !request->contains("messages") ||
      !(*request)["messages"].is_array())
    return refusal(400, "a JSON object with messages is wanted");
  try {
    const Reply* reply = find(*request);
    if (reply == nullptr) return refusal(404, "no recorded answer to this conversation");
    if (reply->ending == Ending::ContextOverflow)
      return refusal(400, "context_length_exceeded: recorded");
    const std::string model = request->value("model", "");
    const Json usage = usage_json(reply->usage, from.body.size(), *reply);
    if (request->value("stream", false))
      return {.body = streamed(*reply, model, usage), .content_type = kEvents};
    return {.body = to_line(whole(*reply, model, usage))};
  } catch (const Json::exception& error) {
    return refusal(400, error.what());
  }
}

std::vector<http::Route> ReplayModel::routes() const {
  return {{"GET", "/v1/models",
           [this](const http::Request&) {
             std::set<std::string> names = {"replay"};
             for (const Conversation& conversation : conversations_)
               if (!conversation.model.empty()) names.insert(conversation.model);
             Json data = Json::array();
             for (const std::string& name : names)
               data.push_back({{"id", name}, {"object", "model"}});
             return http::Response{.body = to_line({{"object", "list"}, {"data", data}})};
           }},
          {"POST", "/v1/chat/completions",
           [this](const http::Request& request) { return answer(request); }}};
}

std::vector<http::Route> recording_routes(const Recorder& recorder) {
  const auto writing = std::make_shared<std::mutex>();
  const auto pass_on = [recorder, writing](const http::Request& request) -> http::Response {
    const auto parts = split_url(recorder.url);
    if (!parts.ok()) return refusal(502, parts.error().message());
    Result<http::Client> client = http::Client::create(
        parts->first, {.answer_seconds = recorder.silence_seconds, .bearer_token = recorder.key});
    if (!client.ok()) return refusal(502, client.error().message());
    AnswerStream stream;
    std::string body;
    const Result<http::Answer> answer =
        client->post(parts->second + "/chat/completions", request.body, [&](std::string_view part) {
          body += part;
          return stream.add(part);
        });
    if (!answer.ok()) return refusal(502, answer.error().message());
    http::Response response{.status = answer->status,
                            .body = answer->status < 300 ? body : answer->body,
                            .content_type = answer->content_type};
    if (!answer->retry_after.empty())
      response.headers.emplace_back("Retry-After", answer->retry_after);
    const Result<Json> asked = parse_json(request.body);
    const Result<Reply> reply = stream.finish();
    if (answer->status >= 300 || !reply.ok() || !asked.ok() || !asked->contains("messages"))
      return response;
    const std::lock_guard lock(*writing);
    const std::string line = recorded_line(*asked, *reply);
    std::FILE* file = std::fopen(recorder.file.c_str(), "ae");
    const bool written =
        file != nullptr && std::fwrite(line.data(), 1, line.size(), file) == line.size();
    const bool closed = file == nullptr || std::fclose(file) == 0;
    if (!written || !closed) return refusal(507, "the answer cannot be recorded: " + recorder.file);
    return response;
  };
  return {{"POST", "/v1/chat/completions", pass_on}};
}

}  // namespace weft::chat
