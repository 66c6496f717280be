// SPDX-License-Identifier: Apache-2.0

// The replayed model asked by the client that a run uses; answers are those of the recordings.
#include "ptxbench/chat/replay_model.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/http/server.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/chat/chat_client.h"

namespace weft::chat {
namespace {

class Running {
 public:
  explicit Running(std::vector<http::Route> routes)
      : server_(std::move(http::Server::create({}, std::move(routes)).value())),
        thread_([this] { server_->serve(); }) {}
  ~Running() {
    server_->stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/v1"; }

 private:
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

Result<Reply> ask(const std::string& url, std::vector<Message> messages, int64_t seed) {
  ChatClient client = ChatClient::create({.url = url, .attempts = 1}, nullptr, nullptr).value();
  return client.ask({.model = "m", .messages = std::move(messages), .seed = seed});
}

Recordings two_conversations() {
  return {.conversations = {{.name = "gemm_a", .answers = {{.content = "a1"}, {.content = "a2"}}},
                            {.name = "gemm_a",
                             .answers = {{.content = "a1"},
                                         {.ending = Ending::OnlyReasoning, .reasoning = "long"}}},
                            {.name = "gemm_ab", .answers = {{.content = "b1"}}}}};
}

TEST(ReplayModel, FollowsTheConversation) {
  const ReplayModel model(two_conversations());
  const Running server(model.routes());
  const Message task{"user", "Task: gemm_a"}, first{"assistant", "a1"}, more{"user", "wrong"};
  EXPECT_EQ(ask(server.url(), {task}, 0)->content, "a1");
  EXPECT_EQ(ask(server.url(), {task, first, more}, 0)->content, "a2");
  const Result<Reply> second = ask(server.url(), {task, first, more}, 1);
  EXPECT_EQ(second->ending, Ending::OnlyReasoning);
  EXPECT_EQ(second->reasoning, "long");
  EXPECT_EQ(ask(server.url(), {{"user", "Task: gemm_ab"}}, 0)->content, "b1");
  EXPECT_FALSE(ask(server.url(), {{"user", "Task: gemm_abc"}}, 0).ok());
  EXPECT_FALSE(ask(server.url(), {task, {"assistant", "other"}, more}, 0).ok());
}

TEST(ReplayModel, AnswersWhatWasRecordedThroughTheProxy) {
  const TemporaryDirectory folder = TemporaryDirectory::create("recording").value();
  const std::vector<Message> question = {{"user", "Task: gemm_ab"}};
  {
    const ReplayModel model(two_conversations());
    const Running real(model.routes());
    const Running proxy(recording_routes(
        {.url = real.url(), .key = "sk-secret", .file = folder.file("answers.jsonl")}));
    EXPECT_EQ(ask(proxy.url(), question, 0)->content, "b1");
    EXPECT_FALSE(ask(proxy.url(), {{"user", "unknown"}}, 0).ok());
  }
  EXPECT_EQ(read_file(folder.file("answers.jsonl"))->find("sk-secret"), std::string::npos);
  Result<Recordings> recorded = read_recordings(folder.path());
  ASSERT_TRUE(recorded.ok()) << format(recorded.error());
  const ReplayModel model(std::move(*recorded));
  const Running server(model.routes());
  EXPECT_EQ(ask(server.url(), question, 5)->content, "b1");
}

TEST(Recordings, TheProjectsOwnCorpusIsWhole) {
  const Result<Recordings> read = read_recordings("tests/agent");
  ASSERT_TRUE(read.ok()) << format(read.error());
  EXPECT_GE(read->conversations.size(), 30u);
  std::set<std::string> tasks;
  for (const Conversation& conversation : read->conversations) {
    tasks.insert(conversation.name);
    EXPECT_GE(conversation.answers.size(), 2u) << conversation.origin;
    EXPECT_NE(conversation.answers.back().content.find("```cuda"), std::string::npos);
  }
  EXPECT_GE(tasks.size(), 8u);
}

TEST(Recordings, AStoryIsEditsOfTheKernelThatIsRight) {
  const TemporaryDirectory folder = TemporaryDirectory::create("story").value();
  ASSERT_TRUE(write_file(folder.file("kernel.cu"), "int a = 1;\n").ok());
  const std::string story =
      R"({"definition": "gemm_a", "kernel": "kernel.cu", "stories": [{"turns": [)"
      R"({"say": "First.", "edits": [["= 1", "= 0"]]}, {"answer": "no code"}, {"say": "Now."}]}]})";
  ASSERT_TRUE(write_file(folder.file("story.json"), story).ok());
  const Result<Recordings> read = read_recordings(folder.path());
  ASSERT_TRUE(read.ok()) << format(read.error());
  const std::vector<Reply>& answers = read->conversations.at(0).answers;
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].content, "First.\n\n```cuda\nint a = 0;\n```\n");
  EXPECT_EQ(answers[1].content, "no code");
  EXPECT_EQ(answers[2].content, "Now.\n\n```cuda\nint a = 1;\n```\n");

  ASSERT_TRUE(write_file(folder.file("kernel.cu"), "int b;\n").ok());
  EXPECT_FALSE(read_recordings(folder.path()).ok());
  ASSERT_TRUE(write_file(folder.file("story.json"), "{\"stories\": 3}").ok());
  EXPECT_FALSE(read_recordings(folder.path()).ok());
  EXPECT_FALSE(read_recordings(folder.file("nothing")).ok());
}

}  // namespace
}  // namespace weft::chat
