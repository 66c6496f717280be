// SPDX-License-Identifier: Apache-2.0

#include "apps/ptxbench/bearer_token.h"

#include <cstdlib>

namespace weft::ptxbench {

Result<std::string> bearer_token(const std::string& variable) {
  if (variable.empty()) return std::string();
  const char* token = std::getenv(variable.c_str());
  if (token == nullptr || *token == '\0')
    return Error("the variable with the token is not set: " + variable,
                 "set it, or leave out --token-env");
  return std::string(token);
}

}  // namespace weft::ptxbench
