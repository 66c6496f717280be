// SPDX-License-Identifier: Apache-2.0

// The other side of the service's routes, for command lines. Refusals become errors with the
// server's own words.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/http/client.h"
#include "base/json.h"
#include "base/result.h"

namespace weft::service {

class ServiceClient {
 public:
  static Result<ServiceClient> create(const std::string& url, const std::string& token);

  Result<Json> get(const std::string& path);
  // {"task_id", "normalized_solution_name"}. A full queue is asked again, as it asks for, until
  // `patience_seconds` are over.
  Result<Json> submit(std::string_view kind, const Json& body, double patience_seconds);
  // The task once it ended. `on_progress` hears of every change, about once a second.
  Result<Json> wait(const std::string& task,
                    const std::function<void(const std::string&)>& on_progress);

 private:
  explicit ServiceClient(http::Client client) : client_(std::move(client)) {}

  http::Client client_;
};

}  // namespace weft::service
