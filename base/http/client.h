// SPDX-License-Identifier: Apache-2.0

// An HTTP client for one server. One object serves one thread at a time and keeps its connection.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weft::http {

struct Answer {
  int status = 0;
  std::string body;
  std::string retry_after;  // the header's value; empty when absent
  std::string content_type;
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
  // The body of a success goes to `on_part` as it comes, and is empty in the answer. An error also
  // when the connection ends before the body does, or when `on_part` wants no more and returns
  // false.
  Result<Answer> post(const std::string& path, const std::string& json,
                      const std::function<bool(std::string_view)>& on_part);
  Result<Answer> remove(const std::string& path);

 private:
  struct Connection;
  explicit Client(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace weft::http
