// SPDX-License-Identifier: Apache-2.0

// The judge as an HTTP service: the contract's routes over a queue and its device workers.
// openapi.json beside this file lists every route; docs/serving_the_judge.md explains them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ptxbench/service/crew.h"
#include "ptxbench/service/queue.h"

namespace weft::service {

struct ServiceOptions {
  std::string host = "127.0.0.1";
  int port = 10000;
  std::string token;     // who sends it may ask; empty: everybody
  std::string problems;  // task folder
  std::string store;     // folder of the queue and of scratch files
  std::string redis;     // URL; empty: the queue lies in the store
  bool wait_for_disk = false;
  QueueLimits limits;
  CrewOptions crew;  // `scratch` is set by the service
};

class Service {
 public:
  static Result<std::unique_ptr<Service>> create(ServiceOptions options);
  virtual ~Service() = default;

  virtual int port() const = 0;
  // Serves until stop(), which any thread may call and POST /shutdown calls.
  virtual void serve() = 0;
  virtual void stop() = 0;
};

// The text of openapi.json.
extern const char* const kOpenApi;

}  // namespace weft::service
