// SPDX-License-Identifier: Apache-2.0

#include "base/http/route.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace weft::http {
namespace {

// Takes the text before the next slash off the front.
std::string_view take_part(std::string_view& path) {
  const size_t end = std::min(path.find('/'), path.size());
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return part;
}

}  // namespace

std::optional<std::map<std::string, std::string>> match(std::string_view pattern,
                                                        std::string_view path) {
  std::map<std::string, std::string> parts;
  if (!pattern.starts_with('/') || !path.starts_with('/')) return std::nullopt;
  pattern.remove_prefix(1);
  path.remove_prefix(1);
  while (!pattern.empty()) {
    if (path.empty()) return std::nullopt;
    const std::string_view wanted = take_part(pattern), found = take_part(path);
    if (wanted.starts_with('{') && wanted.ends_with('}')) {
      if (found.empty()) return std::nullopt;
      parts.emplace(wanted.substr(1, wanted.size() - 2), found);
    } else if (wanted != found) {
      return std::nullopt;
    }
  }
  return path.empty() ? std::optional(std::move(parts)) : std::nullopt;
}

Response refusal(int status, std::string_view detail) {
  return {.status = status, .body = to_line(Json{{"detail", detail}})};
}

Response dispatch(const std::vector<Route>& routes, Request& request) {
  bool other_method = false;
  for (const Route& route : routes) {
    auto parts = match(route.pattern, request.path);
    if (!parts) continue;
    if (route.method != request.method) {
      other_method = true;
      continue;
    }
    request.parts = std::move(*parts);
    return route.handler(request);
  }
  return other_method ? refusal(405, "Method Not Allowed") : refusal(404, "Not Found");
}

}  // namespace weft::http
