// SPDX-License-Identifier: Apache-2.0

// Requests, responses, and the patterns that bring them together.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::http {

struct Request {
  std::string method, path;
  std::map<std::string, std::string> parts;  // what stood in the pattern's braces
  std::map<std::string, std::string> query;
  std::string authorization;  // the header's value
  std::string body;
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
};

struct Route {
  std::string method;
  std::string pattern;  // "/tasks/{id}": a name in braces stands for one part of the path
  std::function<Response(const Request&)> handler;
};

// The parts of `path` that stand at the pattern's names; nothing when it does not match.
std::optional<std::map<std::string, std::string>> match(std::string_view pattern,
                                                        std::string_view path);

// {"detail": text}, as clients of the contract expect an error.
Response refusal(int status, std::string_view detail);

// 404 when no route has the path, 405 when one has it for another method.
Response dispatch(const std::vector<Route>& routes, Request& request);

}  // namespace weft::http
