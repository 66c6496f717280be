// SPDX-License-Identifier: Apache-2.0

// An HTTP/1.1 server for a list of routes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/http/route.h"
#include "base/result.h"

namespace weft::http {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;              // 0: any free one
  size_t connections = 512;  // at once; more wait
  size_t body_bytes = size_t{16} << 20;
  // Asked before the routes; a response ends the request. May be empty.
  std::function<std::optional<Response>(const Request&)> guard;
  // Told about every answered request, with the pattern that served it. May be empty.
  std::function<void(const Request&, const Response&)> on_answer;
};

class Server {
 public:
  // Binds the port. An error when it is taken or the host is no address of this machine.
  static Result<std::unique_ptr<Server>> create(ServerOptions options, std::vector<Route> routes);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  // Answers requests until stop(), which any thread may call.
  void serve();
  void stop();

 private:
  struct Listener;
  explicit Server(std::unique_ptr<Listener> listener);

  std::unique_ptr<Listener> listener_;
};

}  // namespace weft::http
