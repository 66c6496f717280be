// SPDX-License-Identifier: Apache-2.0

// Server and client together, over the loopback.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "base/http/client.h"
#include "base/http/server.h"

namespace weft::http {
namespace {

class Running {
 public:
  Running(ServerOptions options, std::vector<Route> routes)
      : server_(std::move(Server::create(std::move(options), std::move(routes)).value())),
        thread_([this] { server_->serve(); }) {}
  ~Running() {
    server_->stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  Client client(ClientOptions options = {}) const {
    return Client::create(url(), std::move(options)).value();
  }

 private:
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

std::vector<Route> echo() {
  return {{"POST", "/echo", [](const Request& request) { return Response{.body = request.body}; }},
          {"DELETE", "/things/{id}",
           [](const Request& request) {
             return Response{.status = 202, .body = request.parts.at("id")};
           }},
          {"GET", "/query",
           [](const Request& request) { return Response{.body = request.query.at("timeout")}; }}};
}

TEST(Http, CarriesBodiesQueriesAndStatus) {
  const Running server({}, echo());
  Client client = server.client();
  EXPECT_EQ(client.post("/echo", R"({"a": 1})")->body, R"({"a": 1})");
  EXPECT_EQ(client.get("/query?timeout=2.5")->body, "2.5");
  EXPECT_EQ(client.remove("/things/x9")->status, 202);
  EXPECT_EQ(client.get("/nothing")->status, 404);
}

TEST(Http, RefusesABodyThatIsTooLong) {
  const Running server({.body_bytes = 100}, echo());
  Client client = server.client();
  EXPECT_EQ(client.post("/echo", std::string(100, 'x'))->status, 200);
  EXPECT_EQ(client.post("/echo", std::string(101, 'x'))->status, 413);
}

TEST(Http, GuardSeesTheTokenFirst) {
  ServerOptions options;
  options.guard = [](const Request& request) -> std::optional<Response> {
    if (request.authorization == "Bearer right") return std::nullopt;
    return refusal(401, "no");
  };
  const Running server(std::move(options), echo());
  EXPECT_EQ(server.client().get("/query?timeout=1")->status, 401);
  EXPECT_EQ(server.client({.bearer_token = "right"}).get("/query?timeout=1")->status, 200);
}

TEST(Http, AThrowingHandlerIsAnInternalErrorAndNoMore) {
  const Running server({}, {{"GET", "/throws", [](const Request&) -> Response { throw 7; }}});
  Client client = server.client();
  EXPECT_EQ(client.get("/throws")->status, 500);
  EXPECT_EQ(client.get("/throws")->status, 500);
}

TEST(Http, FortyWaitingClientsDoNotLockOutAnother) {
  std::atomic<int> waiting = 0;
  std::atomic<bool> go = false;
  const Running server({},
                       {{"GET", "/wait",
                         [&](const Request&) {
                           ++waiting;
                           while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                           return Response{};
                         }},
                        {"GET", "/now", [](const Request&) { return Response{.body = "now"}; }}});
  std::vector<std::thread> clients;
  for (int i = 0; i < 40; ++i) clients.emplace_back([&] { server.client().get("/wait").ok(); });
  while (waiting < 40) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(server.client().get("/now")->body, "now");
  go = true;
  for (std::thread& client : clients) client.join();
}

TEST(Http, AStopThatComesBeforeServingIsKept) {
  const auto server = std::move(Server::create({}, {}).value());
  server->stop();
  std::promise<void> ended;
  std::thread thread([&] {
    server->serve();
    ended.set_value();
  });
  EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
  server->stop();
  thread.join();
}

TEST(Http, ATakenPortIsAnError) {
  const auto first = Server::create({}, {}).value()->port();
  const auto holder = Server::create({.port = first}, {});
  ASSERT_TRUE(holder.ok());
  EXPECT_FALSE(Server::create({.port = first}, {}).ok());
}

// 192.0.2.1 is for documentation (RFC 5737): no machine has it. A name with a space is none.
TEST(Http, AHostThatIsNotThisMachineIsAnErrorThatNamesTheHost) {
  for (const char* host : {"192.0.2.1", "no such host"}) {
    const auto server = Server::create({.host = host}, {});
    ASSERT_FALSE(server.ok()) << host;
    const Diagnostic& said = server.error().diagnostics.front();
    EXPECT_NE(said.message.find(host), std::string::npos) << said.message;
    EXPECT_NE(said.hint.find("--host"), std::string::npos) << said.hint;
  }
}

TEST(Http, NobodyThereIsAnErrorWithAHint) {
  const auto answer = Client::create("http://127.0.0.1:1", {})->get("/");
  ASSERT_FALSE(answer.ok());
  EXPECT_FALSE(answer.error().diagnostics.front().hint.empty());
  EXPECT_FALSE(Client::create("127.0.0.1:1", {}).ok());
  EXPECT_FALSE(Client::create("http://host/path", {}).ok());
}

}  // namespace
}  // namespace weft::http
