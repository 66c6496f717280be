// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/reasoning.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/text_file.h"
#include "ptxbench/agent/code_block.h"
#include "ptxbench/agent/prompt.h"
#include "ptxbench/chat/chat_client.h"
#include "ptxbench/sft/json_lines.h"

namespace weft::sft {
namespace {

// So many failures of the endpoint without an answer between them: it is not there.
constexpr size_t kMostFailures = 5;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string trimmed(const std::string& text) {
  const size_t from = text.find_first_not_of(" \t\r\n");
  if (from == text.npos) return "";
  return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

struct Asked {
  std::string id, instructions, question;
};

// What a right kernel is asked about once, however many pairs have it.
std::string design_id(const Pair& pair) {
  return "design-" + sha256(pair.definition + "\n" + pair.architecture + "\n" + pair.fixed.source)
                         .substr(0, 16);
}

class Reasoning {
 public:
  Reasoning(const ReasoningSettings& settings, GrowingFile file, const std::vector<Json>& rows)
      : settings_(settings),
        model_(settings.plan.models.begin()->second),
        limit_(settings.plan.endpoints.at(model_.endpoint).requests_per_minute),
        file_(std::move(file)) {
    for (const Json& row : rows) recall(row);
  }

  Result<Done> ask_all(const std::vector<Pair>& pairs) {
    for (const Pair& pair : pairs) TRY(plan(pair));
    reasoned_.questions = asked_.size();
    std::vector<std::thread> threads;
    const size_t count = std::min<size_t>(settings_.plan.parallel, asked_.size());
    for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (error_) return *error_;
    return Done{};
  }

  Result<Reasoned> write(std::vector<Pair> pairs) {
    std::vector<Json> rows;
    Json without = Json::array();
    std::map<std::string, size_t> reasons;
    for (Pair& pair : pairs) {
      pair.reasoning = text_of("repair-" + pair.id, pair.reasoning);
      pair.design = text_of(design_id(pair), pair.design);
      rows.push_back(to_json_in(pair, settings_.output));
    }
    for (const Asked& asked : asked_) {
      const auto found = known_.find(asked.id);
      if (found != known_.end() && !found->second.text.empty()) {
        ++reasoned_.answered;
        continue;
      }
      reasoned_.open += found == known_.end();
      const std::string reason = found == known_.end() ? "open" : found->second.reason;
      ++reasons[reason.substr(0, reason.find(':'))];
      without.push_back({{"id", asked.id}, {"reason", reason}});
    }
    const std::string file = settings_.output + "/pairs.jsonl";
    TRY(write_json_lines(file, rows));
    const std::string digest = sha256(TRY(read_file(file)));
    reasoned_.manifest = {{"format", "ptxbench.reasoning.v1"},
                          {"model", model_.name},
                          {"pairs", rows.size()},
                          {"pairs_sha256", digest},
                          {"questions", reasoned_.questions},
                          {"answered", reasoned_.answered},
                          {"tokens", tokens_},
                          {"dollars", dollars_},
                          {"settings",
                           {{"least_tokens", settings_.least_tokens},
                            {"most_tokens", settings_.most_tokens},
                            {"tokens_counted", settings_.tokenizer != nullptr},
                            {"attempts", settings_.attempts},
                            {"forbidden", settings_.forbidden}}},
                          {"without_by_reason", reasons},
                          {"without", std::move(without)}};
    TRY(write_json(settings_.output + "/manifest.json", reasoned_.manifest));
    return std::move(reasoned_);
  }

 private:
  struct Known {
    std::string text, reason;
  };

  void recall(const Json& row) {
    known_[row.value("id", "")] = {row.value("text", ""), row.value("reason", "")};
    tokens_ += row.value("tokens", int64_t{0});
    dollars_ += row.value("dollars", 0.0);
  }

  std::string text_of(const std::string& id, const std::string& otherwise) const {
    const auto found = known_.find(id);
    return found == known_.end() || found->second.text.empty() ? otherwise : found->second.text;
  }

  void add(Asked asked) {
    const bool there = std::any_of(asked_.begin(), asked_.end(),
                                   [&](const Asked& other) { return other.id == asked.id; });
    if (!there) asked_.push_back(std::move(asked));
  }

  Result<Done> plan(const Pair& pair) {
    if (!settings_.repairs && !settings_.designs) return Done{};
    const std::string task = TRY(settings_.task(pair));
    const std::string right = "The kernel that passed:\n\n" + agent::fenced_code(pair.fixed.source);
    if (settings_.repairs && pair.is_repair())
      add({"repair-" + pair.id, settings_.repair_instructions,
           fmt::format("{}\n\nThe kernel that failed:\n\n{}\n\nThe verdict on it:\n\n{}\n\n{}\n",
                       task, agent::fenced_code(pair.wrong.source), pair.log, right)});
    if (settings_.designs)
      add({design_id(pair), settings_.design_instructions, task + "\n\n" + right + "\n"});
    return Done{};
  }

  bool over() {
    const std::lock_guard lock(mutex_);
    const agent::Plan& plan = settings_.plan;
    const bool spent = (plan.budget_tokens && tokens_ >= *plan.budget_tokens) ||
                       (plan.budget_dollars && dollars_ >= *plan.budget_dollars);
    if (spent) reasoned_.budget_spent = true;
    return spent || error_ || failures_ >= kMostFailures ||
           (settings_.cancel != nullptr && settings_.cancel->load());
  }

  void stop(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }

  void work() {
    Result<chat::ChatClient> client = chat::ChatClient::create(
        settings_.plan.endpoints.at(model_.endpoint).endpoint, &limit_, settings_.cancel);
    if (!client.ok()) return stop(client.error());
    for (size_t index; (index = next_++) < asked_.size();) {
      {
        const std::lock_guard lock(mutex_);
        if (known_.contains(asked_[index].id)) {
          ++done_;
          continue;
        }
      }
      const Result<Done> done = ask(*client, asked_[index]);
      if (!done.ok()) return stop(done.error());
    }
  }

  // An error is fatal; a question that gets no answer now stays open.
  Result<Done> ask(chat::ChatClient& client, const Asked& asked) {
    chat::Question question{.model = model_.served,
                            .messages = {{"system", asked.instructions}, {"user", asked.question}},
                            .seed = model_.send_seed ? std::optional<int64_t>(0) : std::nullopt,
                            .options = model_.options};
    Json tries = Json::array();
    int64_t tokens = 0;
    double dollars = 0;
    std::string text, reason;
    for (unsigned attempt = 0; attempt < settings_.attempts; ++attempt) {
      if (over()) return Done{};
      const Result<chat::Reply> reply = client.ask(question);
      const std::lock_guard lock(mutex_);
      if (!reply.ok()) {
        ++failures_;
        if (settings_.cancel == nullptr || !settings_.cancel->load())
          reasoned_.problems.push_back(asked.id + ": " + format(reply.error()));
        return Done{};
      }
      failures_ = 0;
      const int64_t used = reply->usage.prompt + reply->usage.completion;
      const double cost = agent::cost_of(model_, reply->usage).value_or(0);
      tokens += used;
      dollars += cost;
      tokens_ += used;
      dollars_ += cost;
      text = trimmed(reply->content);
      reason = reply->ending == chat::Ending::Complete
                   ? objection(text, settings_)
                   : "not an answer: " + std::string(chat::ending_name(reply->ending));
      if (reason.empty()) break;
      tries.push_back({{"text", text}, {"reason", reason}});
      if (reply->ending == chat::Ending::ContextOverflow) break;
      question.messages.push_back(
          {"assistant", text.empty() ? std::string(chat::kNoText) : reply->content});
      question.messages.push_back(
          {"user", "That cannot be used. " + reason + ". Write it again, whole."});
    }
    Json row = {{"id", asked.id},     {"text", reason.empty() ? text : ""},
                {"reason", reason},   {"tokens", tokens},
                {"dollars", dollars}, {"refused", std::move(tries)}};
    const std::lock_guard lock(mutex_);
    TRY(file_.append(row));
    known_[asked.id] = {row.value("text", ""), reason};
    ++done_;
    if (settings_.on_answer)
      settings_.on_answer(done_, asked_.size(), reason.empty() ? "accepted" : reason);
    return Done{};
  }

  const ReasoningSettings& settings_;
  const agent::Model& model_;
  chat::RateLimit limit_;
  GrowingFile file_;
  std::map<std::string, Known> known_;
  std::vector<Asked> asked_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  std::optional<Error> error_;
  Reasoned reasoned_;
  size_t failures_ = 0, done_ = 0;
  int64_t tokens_ = 0;
  double dollars_ = 0;
};

}  // namespace

const std::vector<std::string>& default_forbidden() {
  static const std::vector<std::string> kForbidden = {"```",
                                                      "<|",
                                                      "|>",
                                                      "<think>",
                                                      "</think>",
                                                      "[no answer]",
                                                      "the kernel that passed",
                                                      "the repaired kernel",
                                                      "as an ai"};
  return kForbidden;
}

std::string objection(const std::string& text, const ReasoningSettings& settings) {
  const size_t tokens = settings.tokenizer != nullptr
                            ? settings.tokenizer->encode(text).size()
                            : static_cast<size_t>(agent::estimated_tokens(text));
  if (tokens < settings.least_tokens)
    return fmt::format("too short: {} tokens, at least {}", tokens, settings.least_tokens);
  if (tokens > settings.most_tokens)
    return fmt::format("too long: {} tokens, at most {}", tokens, settings.most_tokens);
  const std::string small = lower(text);
  for (const std::string& word : settings.forbidden)
    if (!word.empty() && small.find(lower(word)) != small.npos)
      return "it must not contain: " + word;
  return "";
}

Result<Reasoned> reason(std::vector<Pair> pairs, const ReasoningSettings& settings) {
  if (settings.plan.models.size() != 1)
    return Error("one teacher writes the reasoning",
                 fmt::format("the plan has {} models", settings.plan.models.size()));
  std::vector<Json> rows;
  GrowingFile file = TRY(GrowingFile::open(settings.output + "/reasoning.jsonl", rows));
  Reasoning reasoning(settings, std::move(file), rows);
  TRY(reasoning.ask_all(pairs));
  return reasoning.write(std::move(pairs));
}

}  // namespace weft::sft
