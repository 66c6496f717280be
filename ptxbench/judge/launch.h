// SPDX-License-Identifier: Apache-2.0

// How a bare PTX candidate is launched, as it says in comment lines at its top:
//
//   //! kernel    gemm
//   //! grid      ceil_div(N, 16), ceil_div(M, 16)
//   //! block     16, 16
//   //! shared    0
//   //! arguments A, B, C, i32 M, i32 N, i32 K
//
// Expressions are over the task's axes. Every `kernel` line starts another launch; they run in
// order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/workload.h"

namespace weft::judge {

struct LaunchArgument {
  enum class Kind : uint8_t { Tensor, Int32, Int64, Float32 };
  Kind kind = Kind::Tensor;
  std::string text;  // a tensor's name, an expression, or a decimal number
};

struct Launch {
  std::string kernel;
  std::vector<std::string> grid, block, cluster;  // one to three expressions; cluster may be empty
  std::string shared = "0";                       // dynamic, bytes
  std::vector<LaunchArgument> arguments;
  uint32_t line = 0;
};

// A launch with numbers in the place of expressions.
struct ResolvedLaunch {
  std::string kernel;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t shared = 0;
  struct Argument {
    LaunchArgument::Kind kind;
    int64_t value = 0;  // index among the tensors (inputs, then outputs), or the integer
    double number = 0;  // Float32
  };
  std::vector<Argument> arguments;
};

Result<std::vector<Launch>> parse_launches(const std::string& text, const std::string& file);
Result<std::vector<ResolvedLaunch>> resolve_launches(const std::vector<Launch>& launches,
                                                     const problems::Task& task);

}  // namespace weft::judge
