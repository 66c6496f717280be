// SPDX-License-Identifier: Apache-2.0

// Endpoints that misbehave in every way of which users report, over the loopback. Nobody outside is
// asked.
#include "ptxbench/chat/chat_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/http/server.h"

namespace weft::chat {
namespace {

const std::string kGood =
    "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

// Answers the n-th request with the n-th response, and the last one from then on.
class Scripted {
 public:
  explicit Scripted(std::vector<http::Response> script)
      : script_(std::move(script)),
        server_(std::move(
            http::Server::create({}, {{"POST", "/v1/chat/completions",
                                       [this](const http::Request& request) {
                                         keys_.push_back(request.authorization);
                                         return script_[std::min(asked_++, script_.size() - 1)];
                                       }}})
                .value())),
        thread_([this] { server_->serve(); }) {}
  ~Scripted() {
    server_->stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/v1"; }
  size_t asked() const { return asked_; }
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  std::vector<http::Response> script_;
  std::vector<std::string> keys_;
  std::atomic<size_t> asked_ = 0;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

// Sends `bytes` to whoever connects, then keeps silent or hangs up.
class RawServer {
 public:
  RawServer(std::string bytes, bool hang_up) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ::listen(socket_, 16);
    thread_ = std::thread([this, bytes, hang_up] {
      std::vector<int> open;
      for (int peer; (peer = ::accept(socket_, nullptr, nullptr)) >= 0;) {
        ++asked_;
        char request[4096];
        if (::recv(peer, request, sizeof request, 0) >= 0 && !bytes.empty())
          ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (!hang_up) {
          open.push_back(peer);
          continue;
        }
        // What of the request has not been read yet would turn the end into a reset.
        ::shutdown(peer, SHUT_WR);
        while (::recv(peer, request, sizeof request, 0) > 0) continue;
        ::close(peer);
      }
      for (const int peer : open) ::close(peer);
    });
  }
  ~RawServer() {
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  size_t asked() const { return asked_; }

 private:
  int socket_ = -1, port_ = 0;
  std::atomic<size_t> asked_ = 0;
  std::thread thread_;
};

Endpoint quick(const std::string& url) {
  return {.url = url,
          .connect_seconds = 1,
          .silence_seconds = 0.3,
          .answer_seconds = 2,
          .attempts = 3,
          .first_pause_seconds = 0.01,
          .longest_pause_seconds = 0.02};
}

Result<Reply> ask(const Endpoint& endpoint, RateLimit* limit = nullptr) {
  ChatClient client = ChatClient::create(endpoint, limit, nullptr).value();
  return client.ask({.model = "m", .messages = {{"user", "hello"}}});
}

bool has(const Result<Reply>& reply, const std::string& words) {
  return !reply.ok() && format(reply.error()).find(words) != std::string::npos;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(ChatClient, BadDaysPass) {
  const Scripted server({{.status = 503, .body = "<html>busy</html>"},
                         {.status = 500, .body = "{}"},
                         {.body = kGood, .content_type = "text/event-stream"}});
  const Result<Reply> reply = ask(quick(server.url()));
  ASSERT_TRUE(reply.ok()) << format(reply.error());
  EXPECT_EQ(reply->content, "ok");
  EXPECT_TRUE(reply->usage.estimated);
  EXPECT_EQ(server.asked(), 3u);
}

TEST(ChatClient, WaitsAsLongAsTheServerSays) {
  const Scripted server(
      {{.status = 429, .body = "{}", .headers = {{"Retry-After", "0.5"}}}, {.body = kGood}});
  RateLimit limit(0);
  EXPECT_GE(seconds_of([&] { EXPECT_TRUE(ask(quick(server.url()), &limit).ok()); }), 0.5);
  // A date is worth the usual pause.
  const Scripted dated(
      {{.status = 429, .headers = {{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}}},
       {.body = kGood}});
  EXPECT_LT(seconds_of([&] { EXPECT_TRUE(ask(quick(dated.url())).ok()); }), 0.4);
}

TEST(ChatClient, GivesUpAfterItsAttempts) {
  const Scripted server({{.status = 429, .body = R"({"error": {"message": "slow down"}})"}});
  const Result<Reply> reply = ask(quick(server.url()));
  EXPECT_TRUE(has(reply, "slow down"));
  EXPECT_TRUE(has(reply, "after 3 attempts"));
  EXPECT_EQ(server.asked(), 3u);
}

TEST(ChatClient, DoesNotAskAgainWhereItIsOfNoUse) {
  for (const http::Response& response :
       {http::Response{.status = 404, .body = "no such model"},
        http::Response{.status = 429, .body = R"({"error": {"code": "insufficient_quota"}})"},
        http::Response{.body = "<!doctype html><title>Sign in</title>",
        .content_type = "text/html"}}) {
    const Scripted server({response});
    EXPECT_FALSE(ask(quick(server.url())).ok());
    EXPECT_EQ(server.asked(), 1u) << response.body;
  }
}

TEST(ChatClient, AnHtmlAnswerIsShownAndTheUrlSuspected) {
  const Scripted server({{.body = "<!doctype html><title>Sign in</title>"}});
  EXPECT_TRUE(has(ask(quick(server.url())), "Sign in"));
  EXPECT_TRUE(has(ask(quick(server.url())), "https://host/v1"));
}

TEST(ChatClient, AConversationThatIsTooLongIsNoError) {
  const Scripted server(
      {{.status = 400,
        .body = R"({"error": {"code": "context_length_exceeded", "message": "too long"}})"}});
  const Result<Reply> reply = ask(quick(server.url()));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->ending, Ending::ContextOverflow);
}

TEST(ChatClient, NobodyThere) {
  const Result<Reply> reply = ask(quick("http://127.0.0.1:1/v1"));
  EXPECT_TRUE(has(reply, "127.0.0.1:1"));
  EXPECT_FALSE(ChatClient::create(quick("localhost"), nullptr, nullptr).ok());
}

TEST(ChatClient, ASilentEndpointAndOneThatHangsUpAreAskedAgain) {
  const RawServer silent("", false);
  EXPECT_FALSE(ask(quick(silent.url())).ok());
  EXPECT_EQ(silent.asked(), 3u);
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
      "chunked\r\n\r\n";
  const RawServer cut(head + "2c\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"h\"}}]}\n\r\n",
                      true);
  EXPECT_FALSE(ask(quick(cut.url())).ok());
  EXPECT_EQ(cut.asked(), 3u);
  // Without a length the end of the connection is the end of the body, but not of the answer.
  const RawServer unmarked(
      "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndata: "
      "{\"choices\":[{\"delta\":{\"content\":\"h\"}}]}\n\n",
      true);
  EXPECT_TRUE(has(ask(quick(unmarked.url())), "in the middle"));
}

TEST(ChatClient, TheKeyIsSentAndNeverShown) {
  ::setenv("WEFT_TEST_KEY", "sk-secret-1234", 1);
  const Scripted server(
      {{.status = 401, .body = R"({"error": {"message": "Incorrect key: sk-secret-1234"}})"}});
  Endpoint endpoint = quick(server.url());
  endpoint.key_variable = "WEFT_TEST_KEY";
  const Result<Reply> reply = ask(endpoint);
  EXPECT_TRUE(has(reply, "Incorrect key: [key]"));
  EXPECT_FALSE(has(reply, "secret"));
  ASSERT_FALSE(server.keys().empty());
  EXPECT_EQ(server.keys().front(), "Bearer sk-secret-1234");
  endpoint.key_variable = "WEFT_TEST_NO_SUCH_KEY";
  EXPECT_FALSE(ChatClient::create(endpoint, nullptr, nullptr).ok());
}

TEST(ChatClient, KeepsToTheRateAndStopsWhenTold) {
  const Scripted server({{.body = kGood}});
  RateLimit limit(600);  // one every 0.1 s: the fifth after 0.4 s
  EXPECT_GE(seconds_of([&] {
              for (int i = 0; i < 5; ++i) EXPECT_TRUE(ask(quick(server.url()), &limit).ok());
            }),
            0.4);
  const std::atomic<bool> cancel = true;
  ChatClient client = ChatClient::create(quick(server.url()), nullptr, &cancel).value();
  EXPECT_FALSE(client.ask({.model = "m"}).ok());
}

TEST(RequestBody, HasTheModelsOptionsAndTheSeed) {
  const Result<std::string> body = request_body(
      {.model = "m", .messages = {{"user", "x"}}, .seed = 4, .options = R"({"temperature": 0.5})"});
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(*body, R"({"temperature":0.5,"model":"m","messages":[{"role":"user","content":"x"}],)"
                   R"("seed":4,"stream":true,"stream_options":{"include_usage":true}})");
}

}  // namespace
}  // namespace weft::chat
