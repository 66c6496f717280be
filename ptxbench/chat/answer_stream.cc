// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/chat/answer_stream.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_member.h"
#include "base/printable.h"

namespace weft::chat {
namespace {

constexpr size_t kShown = 160;  // bytes of a foreign answer in a message
constexpr std::string_view kThink = "<think>", kThinkEnd = "</think>";

int64_t integer(const Json& json) {
  return json.is_number() ? std::max<int64_t>(json.get<int64_t>(), 0) : 0;
}

// JSON must be UTF-8. A model's bytes may not be, when a token was cut in two: those become U+FFFD,
// so that the rest can be read. Bytes above ASCII are kept where they are well-formed.
std::string repaired(const std::string& bytes) {
  return Json::parse(to_line(Json(bytes))).get<std::string>();
}

Result<Json> parse(const std::string& data) {
  Result<Json> json = parse_json(data, "answer");
  return json.ok() ? std::move(json) : parse_json(repaired(data), "answer");
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == text.npos;
}

}  // namespace

std::string_view ending_name(Ending ending) {
  constexpr std::string_view kNames[] = {"complete", "cut", "only_reasoning", "context_overflow",
                                         "filtered"};
  return kNames[static_cast<size_t>(ending)];
}

bool AnswerStream::add(std::string_view part) {
  bytes_ += part.size();
  if (bytes_ > kLongestAnswer) return false;
  if (first_.size() < kShown) first_ += part.substr(0, kShown - first_.size());
  pending_ += part;
  if (form_ == Form::Unknown) {
    const size_t start = pending_.find_first_not_of(" \t\r\n");
    if (start == pending_.npos) return true;
    form_ = pending_[start] == '{' || pending_[start] == '<' ? Form::Document : Form::Events;
  }
  if (form_ == Form::Document) return true;
  size_t begin = 0;
  for (size_t end; (end = pending_.find('\n', begin)) != pending_.npos; begin = end + 1)
    if (!line(std::string_view(pending_).substr(begin, end - begin)) && server_error_.empty())
      server_error_ = "an event that is no JSON";
  pending_.erase(0, begin);
  return true;
}

// One event a line: no endpoint splits its JSON over several data lines.
bool AnswerStream::line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.starts_with("data:")) return true;
  line.remove_prefix(5);
  if (line.starts_with(' ')) line.remove_prefix(1);
  if (line != "[DONE]") return event(std::string(line));
  done_ = true;
  return true;
}

bool AnswerStream::event(const std::string& data) {
  const Result<Json> json = parse(data);
  if (!json.ok()) return false;
  if (const Json& error = member(*json, "error"); !error.is_null()) {
    const std::string message = text_of(member(error, "message"));
    server_error_ = message.empty() ? to_line(error) : message;
  }
  const Json& choices = member(*json, "choices");
  if (choices.is_array() && !choices.empty()) take_choice(choices[0], "delta");
  take_usage(*json);
  return true;
}

void AnswerStream::take_choice(const Json& choice, const char* part) {
  const Json& message = member(choice, part);
  reply_.content += text_of(member(message, "content"));
  // Two names are in use, some endpoints send both.
  const std::string reasoning = text_of(member(message, "reasoning_content"));
  reply_.reasoning += reasoning.empty() ? text_of(member(message, "reasoning")) : reasoning;
  const std::string finish = text_of(member(choice, "finish_reason"));
  if (!finish.empty()) finish_reason_ = finish;
}

void AnswerStream::take_usage(const Json& json) {
  const Json& usage = member(json, "usage");
  if (!usage.is_object()) return;
  usage_ = {
      .prompt = integer(member(usage, "prompt_tokens")),
      .completion = integer(member(usage, "completion_tokens")),
      .reasoning = integer(member(member(usage, "completion_tokens_details"), "reasoning_tokens"))};
}

Error AnswerStream::refuse(Fault fault, std::string message, std::string hint) {
  fault_ = fault;
  return Error(std::move(message), std::move(hint));
}

Result<Reply> AnswerStream::finish() {
  if (bytes_ > kLongestAnswer)
    return refuse(Fault::NotChat,
                  fmt::format("the answer is longer than {} MiB", kLongestAnswer >> 20),
                  "set max_tokens for this model");
  // Half an event is an answer that was cut, not one that is wrong.
  if (form_ == Form::Events) line(pending_);
  if (form_ == Form::Document) {
    const Result<Json> json = parse(pending_);
    const Json& choices = json.ok() ? member(*json, "choices") : member(Json(), "");
    if (choices.is_array() && !choices.empty()) {
      take_choice(choices[0], "message");
      take_usage(*json);
      done_ = true;
    } else if (json.ok() && !member(*json, "error").is_null()) {
      event(pending_);
    } else if (pending_.starts_with('{') && !json.ok()) {
      return refuse(Fault::Cut, "the answer ended in the middle", "");
    } else {
      return refuse(Fault::NotChat, "not an answer of a chat endpoint: " + printable(first_),
                    "the URL names the API's root, like https://host/v1");
    }
  }
  if (!server_error_.empty() && finish_reason_.empty())
    return refuse(Fault::Server, "the endpoint broke off: " + server_error_.substr(0, 500), "");
  if (finish_reason_.empty() && !done_)
    return refuse(Fault::Cut, "the answer ended in the middle", "");

  // Endpoints without a parser for reasoning leave it in the text.
  if (const size_t open = reply_.content.find(kThink);
      open != std::string::npos && blank(std::string_view(reply_.content).substr(0, open))) {
    const size_t end = reply_.content.find(kThinkEnd, open);
    const size_t from = open + kThink.size();
    reply_.reasoning += reply_.content.substr(from, std::min(end, reply_.content.size()) - from);
    reply_.content = end == std::string::npos ? "" : reply_.content.substr(end + kThinkEnd.size());
  }
  if (finish_reason_ == "length" || finish_reason_ == "max_tokens")
    reply_.ending = blank(reply_.content) ? Ending::OnlyReasoning : Ending::Cut;
  else if (finish_reason_ == "content_filter")
    reply_.ending = Ending::Filtered;
  else if (finish_reason_ == "model_length" || finish_reason_ == "model_context_window_exceeded")
    reply_.ending = Ending::ContextOverflow;
  if (usage_)
    reply_.usage = *usage_;
  else
    reply_.usage = {
        .completion = static_cast<int64_t>(reply_.content.size() + reply_.reasoning.size()) / 4,
        .reasoning = static_cast<int64_t>(reply_.reasoning.size()) / 4,
        .estimated = true};
  return reply_;
}

}  // namespace weft::chat
