// SPDX-License-Identifier: Apache-2.0

// What the judge tells ptxbench-replay: a recording, and the tensors whose contents are new.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::judge {

struct ReplayTensor {
  uint64_t address = 0, bytes = 0;
  std::string input;   // file with its contents; empty: an output, filled with the poison
  std::string output;  // file for its contents afterwards
};

struct ReplayOrders {
  std::string recording, report;  // files
  std::string device;             // key of the model
  uint64_t schedule_seed = 0;
  unsigned workers = 0;
  double launch_seconds = 0;  // limit of a launch; 0: none
  uint8_t poison = 0;
  std::vector<ReplayTensor> tensors;
};

std::string to_text(const ReplayOrders& orders);
Result<ReplayOrders> read_replay_orders(std::string text, const std::string& file);

}  // namespace weft::judge
