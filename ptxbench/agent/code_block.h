// SPDX-License-Identifier: Apache-2.0

// The kernel in a model's answer: its last fenced block of code. What is no kernel is told apart,
// because a model is told something else in each case and the statistics count them as classes of
// their own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::agent {

constexpr size_t kLargestKernel = size_t{1} << 20;  // bytes; the judge refuses twice as much

struct CodeBlock {
  std::string code;     // without its fences; empty when there is none
  std::string problem;  // why there is none, for the model to read: "the answer has no block ..."
};

// Blocks in languages that are no kernel ("text", "bash", "json", ...) are passed over while there
// is another. A block that is never closed is code that was cut.
CodeBlock last_code_block(std::string_view answer);

// The block that last_code_block finds again.
std::string fenced_code(const std::string& code);

}  // namespace weft::agent
