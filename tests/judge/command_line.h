// SPDX-License-Identifier: Apache-2.0

// Runs the built ptxbench as a user does, with a temporary folder of its own that must be empty
// again afterwards.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/subprocess.h"

namespace weft::judge_test {

struct Ran {
  int exit_code = -1;
  std::string output, errors;
  std::vector<std::string> left_behind;  // in the temporary folder

  Json json() const;  // of the output; discarded when it is none
};

Ran ptxbench(std::vector<std::string> arguments,
             std::vector<std::pair<std::string, std::string>> environment = {});

std::string candidate(const std::string& name);  // path in tests/judge/candidates

// Why candidates cannot be judged on this machine; empty when they can.
std::string missing_for_eval(bool needs_compiler);

}  // namespace weft::judge_test
