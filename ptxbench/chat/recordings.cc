// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/chat/recordings.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/text_file.h"

namespace weft::chat {
namespace {
namespace fs = std::filesystem;

Ending ending_named(const std::string& name) {
  for (const Ending ending :
       {Ending::Cut, Ending::OnlyReasoning, Ending::ContextOverflow, Ending::Filtered})
    if (name == ending_name(ending)) return ending;
  return Ending::Complete;
}

Usage read_usage(const Json& json) {
  if (!json.is_object()) return {.estimated = true};
  return {.prompt = json.value("prompt_tokens", int64_t{0}),
          .completion = json.value("completion_tokens", int64_t{0}),
          .reasoning = json.value("reasoning_tokens", int64_t{0}),
          .estimated = json.value("estimated", false)};
}

Conversation read_messages(const Json& json) {
  Conversation conversation;
  const Json head = json.at("info").value("ptxbench", Json::object());
  conversation.model = head.value("model", "");
  conversation.name = head.value("definition", "");
  for (const Json& message : json.at("messages")) {
    if (message.at("role") != "assistant") continue;
    const Json extra = message.value("extra", Json::object());
    conversation.answers.push_back({.ending = ending_named(extra.value("finish", "")),
                                    .content = message.at("content"),
                                    .reasoning = extra.value("reasoning", ""),
                                    .usage = read_usage(extra.value("usage", Json()))});
  }
  return conversation;
}

// One story: [{"say", "edits": [[from, to], ...], "ending"?, "answer"?}, ...]. The kernel is the
// last turn's; an edit's `from` must be in it, so that a story cannot go stale unseen.
Result<Conversation> read_story(const Json& turns, const std::string& kernel,
                                const fs::path& file) {
  Conversation conversation;
  for (const Json& turn : turns) {
    Reply reply{.ending = ending_named(turn.value("ending", "")),
                .reasoning = turn.value("reasoning", ""),
                .usage = {.estimated = true}};
    if (turn.contains("answer")) {
      reply.content = turn.at("answer");
      conversation.answers.push_back(std::move(reply));
      continue;
    }
    std::string code = kernel;
    for (const Json& edit : turn.value("edits", Json::array())) {
      const std::string from = edit.at(0);
      const size_t at = code.find(from);
      if (from.empty() || at == std::string::npos)
        return Error(Diagnostic{.message = "an edit does not apply: " + from,
                                .hint = "turns edit the kernel of the last turn",
                                .file = file.string()});
      code.replace(at, from.size(), edit.at(1).get<std::string>());
    }
    reply.content = fmt::format("{}\n\n```cuda\n{}```\n", turn.value("say", ""), code);
    conversation.answers.push_back(std::move(reply));
  }
  return conversation;
}

// {"definition", "kernel": file beside it, "stories": [{"name", "turns"}, ...]}
Result<Done> read_stories(const Json& json, const fs::path& file, Recordings& recordings) {
  const fs::path path = file.parent_path() / json.at("kernel").get<std::string>();
  const std::string kernel = TRY(read_file(path.string()));
  for (const Json& story : json.at("stories")) {
    Conversation conversation = TRY(read_story(story.at("turns"), kernel, file));
    conversation.name = json.at("definition");
    conversation.origin = file.string();
    recordings.conversations.push_back(std::move(conversation));
  }
  return Done{};
}

Result<Done> read_lines(const std::string& file, Recordings& recordings) {
  std::istringstream lines(TRY(read_file(file)));
  std::string line;
  for (uint32_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const Json json = TRY(parse_json(line, fmt::format("{}:{}", file, number)));
    const Json& answer = json.at("answer");
    recordings.exchanges.push_back(
        {.key = messages_key(json.at("messages")),
         .answer = {.ending = ending_named(answer.value("finish", "")),
                    .content = answer.at("content"),
                    .reasoning = answer.value("reasoning", ""),
                    .usage = read_usage(answer.value("usage", Json()))}});
  }
  return Done{};
}

Result<Done> read_one(const fs::path& file, Recordings& recordings) {
  try {
    if (file.extension() == ".jsonl") return read_lines(file.string(), recordings);
    const Json json = TRY(read_json(file.string()));
    if (json.contains("stories")) return read_stories(json, file, recordings);
    Conversation conversation = read_messages(json);
    conversation.origin = file.string();
    recordings.conversations.push_back(std::move(conversation));
    return Done{};
  } catch (const Json::exception& error) {
    return Error(Diagnostic{.message = std::string("not a recording: ") + error.what(),
                            .file = file.string()});
  }
}

}  // namespace

std::string messages_key(const Json& messages) {
  Sha256 hash;
  for (const Json& message : messages) {
    hash.update(to_line(message.value("role", Json())));
    hash.update(to_line(message.value("content", Json())));
  }
  return hash.finish();
}

std::string recorded_line(const Json& request, const Reply& answer) {
  return to_line({{"model", request.value("model", "")},
                  {"messages", request.at("messages")},
                  {"answer",
                   {{"content", answer.content},
                    {"reasoning", answer.reasoning},
                    {"finish", ending_name(answer.ending)},
                    {"usage",
                     {{"prompt_tokens", answer.usage.prompt},
                      {"completion_tokens", answer.usage.completion},
                      {"reasoning_tokens", answer.usage.reasoning},
                      {"estimated", answer.usage.estimated}}}}}}) +
         "\n";
}

Result<Recordings> read_recordings(const std::string& path) {
  std::vector<fs::path> files;
  std::error_code failure;
  if (fs::is_directory(path, failure)) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path, failure)) {
      const std::string name = entry.path().filename().string();
      if (name == "trajectory.json" || name == "story.json" || entry.path().extension() == ".jsonl")
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
  } else {
    files = {path};
  }
  Recordings recordings;
  for (const fs::path& file : files) TRY(read_one(file, recordings));
  if (recordings.conversations.empty() && recordings.exchanges.empty())
    return Error(Diagnostic{.message = "no recorded answers",
                            .hint = "trajectory.json, story.json or *.jsonl of `ptxbench record`",
                            .file = path});
  return recordings;
}

}  // namespace weft::chat
