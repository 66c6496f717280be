// SPDX-License-Identifier: Apache-2.0

// An HTTP client for one server. One object serves one thread at a time and keeps its connection.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weft::http {

struct Answer {
  int status = 0;
  std::string body;
  std::string retry_after;  // the header's value; empty when absent
};

struct ClientOptions {
  double connect_seconds = 5;
  double answer_seconds = 60;  // without a byte from the server
  std::string bearer_token;    // empty: none is sent
};

class Client {
 public:
  // "http://host:port", or https. An error when it is not such a URL.
  static Result<Client> create(const std::string& url, const ClientOptions& options);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  // The path may carry a query. An error means that no answer came.
  Result<Answer> get(const std::string& path);
  Result<Answer> post(const std::string& path, const std::string& json);
  Result<Answer> remove(const std::string& path);

 private:
  struct Connection;
  explicit Client(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace weft::http
