// SPDX-License-Identifier: Apache-2.0

// Events are written as the public description of the API's streams shows them.
#include "ptxbench/chat/answer_stream.h"

#include <gtest/gtest.h>

namespace weft::chat {
namespace {

const std::string kStream =
    ": a comment\n\n"
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"hm\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":5,"
    "\"completion_tokens_details\":{\"reasoning_tokens\":3}}}\n\n"
    "data: [DONE]\n\n";

Result<Reply> read(const std::string& bytes, AnswerStream::Fault* fault = nullptr) {
  AnswerStream stream;
  stream.add(bytes);
  Result<Reply> reply = stream.finish();
  if (fault != nullptr) *fault = stream.fault();
  return reply;
}

std::string finished(const std::string& content, const std::string& reason) {
  return "data: {\"choices\":[{\"delta\":{\"content\":\"" + content + "\"},\"finish_reason\":\"" +
         reason + "\"}]}\n\ndata: [DONE]\n\n";
}

TEST(AnswerStream, IsTheSameHoweverItIsCutIntoParts) {
  for (size_t size = 1; size <= kStream.size(); size += 7) {
    AnswerStream stream;
    for (size_t i = 0; i < kStream.size(); i += size) stream.add(kStream.substr(i, size));
    const Result<Reply> reply = stream.finish();
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(reply->content, "Hello");
    EXPECT_EQ(reply->reasoning, "hm");
    EXPECT_EQ(reply->usage.prompt, 7);
    EXPECT_EQ(reply->usage.completion, 5);
    EXPECT_EQ(reply->usage.reasoning, 3);
    EXPECT_FALSE(reply->usage.estimated);
    EXPECT_EQ(reply->ending, Ending::Complete);
  }
}

TEST(AnswerStream, TellsTheEndingsApart) {
  EXPECT_EQ(read(finished("int a", "length"))->ending, Ending::Cut);
  EXPECT_EQ(read(finished(" ", "length"))->ending, Ending::OnlyReasoning);
  EXPECT_EQ(read(finished("<think>long", "length"))->ending, Ending::OnlyReasoning);
  EXPECT_EQ(read(finished("", "content_filter"))->ending, Ending::Filtered);
  EXPECT_EQ(read(finished("", "model_length"))->ending, Ending::ContextOverflow);
}

TEST(AnswerStream, TakesReasoningOutOfTheText) {
  const Result<Reply> reply = read(finished("<think>why</think>answer", "stop"));
  EXPECT_EQ(reply->content, "answer");
  EXPECT_EQ(reply->reasoning, "why");
}

TEST(AnswerStream, ReadsADocumentToo) {
  const Result<Reply> reply = read(
      "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],"
      "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}");
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->content, "hi");
  EXPECT_EQ(reply->usage.completion, 2);
}

TEST(AnswerStream, ATokenCutInTwoDoesNotSpoilTheRest) {
  const Result<Reply> reply = read(finished("a\xF0\x9F b", "stop"));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->content.substr(0, 1), "a");
  EXPECT_TRUE(reply->content.ends_with(" b"));
}

TEST(AnswerStream, SaysWhatElseCame) {
  AnswerStream::Fault fault{};
  EXPECT_FALSE(read(kStream.substr(0, kStream.find("lo\"}")), &fault).ok());
  EXPECT_EQ(fault, AnswerStream::Fault::Cut);
  EXPECT_FALSE(read("", &fault).ok());
  EXPECT_EQ(fault, AnswerStream::Fault::Cut);
  EXPECT_FALSE(read("{\"choices\":[{\"mess", &fault).ok());
  EXPECT_EQ(fault, AnswerStream::Fault::Cut);
  const Result<Reply> page = read("<!doctype html><html>Sign in</html>", &fault);
  EXPECT_EQ(fault, AnswerStream::Fault::NotChat);
  EXPECT_NE(page.error().message().find("Sign in"), std::string::npos);
  EXPECT_FALSE(read("{\"ok\":true}", &fault).ok());
  EXPECT_EQ(fault, AnswerStream::Fault::NotChat);
  EXPECT_FALSE(read("data: {\"error\":{\"message\":\"overloaded\"}}\n\n", &fault).ok());
  EXPECT_EQ(fault, AnswerStream::Fault::Server);
  EXPECT_FALSE(read("data: {\"choi\n\n", &fault).ok());
  EXPECT_EQ(fault, AnswerStream::Fault::Server);
}

}  // namespace
}  // namespace weft::chat
