// SPDX-License-Identifier: Apache-2.0

#include "base/http/server.h"

#include <httplib.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/http/connection_pool.h"

namespace weft::http {
namespace {

// The library listens with room for five connections that nobody has accepted yet; a burst of
// clients beyond that would wait a second for the kernel to try again.
constexpr int kBacklog = 1024;
constexpr size_t kRequestsOfAConnection = 10000;
constexpr time_t kKeepAliveSeconds = 5;

class PoolQueue : public httplib::TaskQueue {
 public:
  explicit PoolQueue(size_t most) : pool_(most) {}
  void enqueue(std::function<void()> work) override { pool_.add(std::move(work)); }
  void shutdown() override { pool_.stop(); }

 private:
  ConnectionPool pool_;
};

Request translated(const httplib::Request& from) {
  Request request{.method = from.method,
                  .path = from.path,
                  .authorization = from.get_header_value("Authorization"),
                  .body = from.body};
  for (const auto& [name, value] : from.params) request.query.emplace(name, value);
  return request;
}

}  // namespace

struct Server::Listener : httplib::Server {
  ServerOptions options;
  std::vector<Route> routes;
  int port = 0;

  // The library closes its socket when it stops serving, so not when it never served.
  ~Listener() override { close_socket(); }

  // The library's own stop() does nothing before it serves, and a signal may come that early.
  void close_socket() {
    const int socket = svr_sock_.exchange(INVALID_SOCKET);
    if (socket < 0) return;
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
  }

  void answer(const httplib::Request& from, httplib::Response& to) const {
    Request request = translated(from);
    std::optional<Response> early = options.guard ? options.guard(request) : std::nullopt;
    const Response response = early ? std::move(*early) : dispatch(routes, request);
    to.status = response.status;
    for (const auto& [name, value] : response.headers) to.set_header(name, value);
    to.set_content(response.body, response.content_type);
    if (options.on_answer) options.on_answer(request, response);
  }

  void widen_backlog() { ::listen(svr_sock_.load(), kBacklog); }
};

Server::Server(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::create(ServerOptions options, std::vector<Route> routes) {
  auto listener = std::make_unique<Listener>();
  Listener& server = *listener;
  server.options = std::move(options);
  server.routes = std::move(routes);
  // The library's own choice lets two servers share a port without a word.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(kRequestsOfAConnection);
  server.set_keep_alive_timeout(kKeepAliveSeconds);
  server.set_payload_max_length(server.options.body_bytes);
  const size_t connections = server.options.connections;
  server.new_task_queue = [connections] { return new PoolQueue(connections); };
  const auto answer = [&server](const httplib::Request& from, httplib::Response& to) {
    server.answer(from, to);
  };
  server.Get(".*", answer);
  server.Post(".*", answer);
  server.Put(".*", answer);
  server.Delete(".*", answer);
  // What the library refuses by itself: a body that is too long, a request it cannot read. Clients
  // that name no content type send a form, of which it reads 8 KiB.
  server.set_error_handler([](const httplib::Request&, httplib::Response& to) {
    if (!to.body.empty()) return;
    to.set_content(
        refusal(to.status, to.status == 413
                               ? "the body is too long, or has no Content-Type: application/json"
                               : "bad request")
            .body,
        "application/json");
  });
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& to, const std::exception_ptr&) {
        to.status = 500;
        to.set_content(refusal(500, "internal error").body, "application/json");
      });
  const std::string host = server.options.host;
  const int wanted = server.options.port;
  // Asked beforehand: the library does not say that it was the name that failed.
  addrinfo* addresses = nullptr;
  const int unknown = getaddrinfo(host.c_str(), nullptr, nullptr, &addresses);
  if (unknown != 0)
    return Error("cannot listen on " + host + ": " + gai_strerror(unknown),
                 "--host takes an address or a name of this machine, like 127.0.0.1 or 0.0.0.0");
  freeaddrinfo(addresses);
  server.port = wanted == 0                         ? server.bind_to_any_port(host)
                : server.bind_to_port(host, wanted) ? wanted
                                                    : -1;
  if (server.port <= 0) {
    const bool elsewhere = errno == EADDRNOTAVAIL;
    return Error(
        "cannot listen on " + host + ":" + std::to_string(wanted) + ": " + std::strerror(errno),
        elsewhere ? "--host takes an address of this machine, like 127.0.0.1 or 0.0.0.0"
                  : "is another server running there? --port names another port");
  }
  server.widen_backlog();
  return std::unique_ptr<Server>(new Server(std::move(listener)));
}

int Server::port() const {
  return listener_->port;
}

void Server::serve() {
  listener_->listen_after_bind();
}

void Server::stop() {
  listener_->close_socket();
}

}  // namespace weft::http
