// SPDX-License-Identifier: Apache-2.0

// What a model is told about its last answer, from the verdict: compiler errors and ptxas
// diagnostics, the fault with its source line, mismatch statistics with the first bad index, the
// audit, the speed-up and what bounds it. Bounded in length. Never tolerances, seeds or references.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/json.h"

namespace weft::agent {

struct FeedbackLimits {
  size_t bytes = 6000;
  std::optional<double> target_speedup;
};

// `code` is quoted round the line of a fault.
std::string verdict_feedback(const Json& envelope, const std::string& code,
                             const FeedbackLimits& limits);

// For an answer without code: `problem` says what is wrong with it.
std::string answer_feedback(const std::string& problem);

// At most `bytes`: the head and the tail, with what is left out between them.
std::string bounded(const std::string& text, size_t bytes);

}  // namespace weft::agent
