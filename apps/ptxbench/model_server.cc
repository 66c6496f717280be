// SPDX-License-Identifier: Apache-2.0

// ptxbench replay-model and record: chat endpoints without a model, or in front of one.
#include <csignal>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/ptxbench/bearer_token.h"
#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "base/http/server.h"
#include "ptxbench/chat/chat_client.h"
#include "ptxbench/chat/replay_model.h"

namespace weft::ptxbench {
namespace {

struct Options {
  std::string source, host = "127.0.0.1";
  int port = 8000;
  chat::Recorder recorder;
  std::string key_variable;
};

// What a signal can reach.
http::Server* running = nullptr;

int serve(const Options& options, std::vector<http::Route> routes) {
  const auto server =
      http::Server::create({.host = options.host, .port = options.port}, std::move(routes));
  if (!server.ok()) return fail(server.error(), kEnvironment);
  print(fmt::format("http://{}:{}/v1\n", options.host, (*server)->port()));
  std::fflush(stdout);
  running = server->get();
  std::signal(SIGINT, [](int) { running->stop(); });
  std::signal(SIGTERM, [](int) { running->stop(); });
  running->serve();
  return kPassed;
}

int replay_model(const Options& options) {
  Result<chat::Recordings> recordings = chat::read_recordings(options.source);
  if (!recordings.ok()) return fail(recordings.error(), kUsage);
  const chat::ReplayModel model(std::move(*recordings));
  return serve(options, model.routes());
}

int record(Options& options) {
  const Result<std::string> key = bearer_token(options.key_variable);
  if (!key.ok()) return fail(key.error(), kUsage);
  options.recorder.key = *key;
  const auto parts = chat::split_url(options.recorder.url);
  if (!parts.ok()) return fail(parts.error(), kUsage);
  return serve(options, chat::recording_routes(options.recorder));
}

void add_place(CLI::App& verb, Options& options) {
  verb.add_option("--host", options.host, "Address to listen on");
  verb.add_option("--port", options.port, "Port to listen on; 0: any free one")
      ->check(CLI::Range(0, 65535));
}

}  // namespace

void add_replay_model(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("replay-model", "Serves recorded answers as a chat endpoint");
  verb->footer("Example:\n  ptxbench replay-model tests/agent --port 8000");
  verb->add_option("source", options->source,
                   "A run, a folder of recordings, or a file: trajectory.json, story.json, *.jsonl")
      ->required();
  add_place(*verb, *options);
  verb->callback([options, &exit_code] { exit_code = replay_model(*options); });
}

void add_record(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "record", "Passes questions on to a chat endpoint and records its answers");
  verb->footer(
      "Example:\n  ptxbench record https://host/v1 --key-env OPENAI_API_KEY --out answers.jsonl");
  verb->add_option("url", options->recorder.url, "The API's root: https://host/v1")->required();
  verb->add_option("--out", options->recorder.file, "JSONL to append to")->required();
  verb->add_option("--key-env", options->key_variable,
                   "Environment variable with the endpoint's key");
  add_place(*verb, *options);
  verb->callback([options, &exit_code] { exit_code = record(*options); });
}

}  // namespace weft::ptxbench
