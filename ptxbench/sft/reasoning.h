// SPDX-License-Identifier: Apache-2.0

// A teacher writes the thoughts that lead from a failed kernel and its verdict to the repair, and
// those behind a right kernel. What it writes has a length in tokens and words that it must not
// have; an answer that breaks a rule is sent back with the reason, a few times.
//
// The output folder holds reasoning.jsonl, which grows by a line an answer that was accepted or
// given up, so that a run that was killed asks nothing twice, pairs.jsonl (the pairs with their
// reasoning) and manifest.json.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/agent/plan.h"
#include "ptxbench/sft/bpe_tokenizer.h"
#include "ptxbench/sft/pair.h"

namespace weft::sft {

struct ReasoningSettings {
  std::string output;  // folder
  agent::Plan plan;    // one model, and its budget; without trajectories
  bool repairs = true, designs = true;
  std::string repair_instructions, design_instructions;  // system messages
  // The task's message.
  std::function<Result<std::string>(const Pair& pair)> task;
  size_t least_tokens = 40, most_tokens = 2000;
  const BpeTokenizer* tokenizer = nullptr;  // null: four bytes a token
  std::vector<std::string> forbidden;       // compared without case; see default_forbidden()
  unsigned attempts = 3;                    // answers to one question, at most
  const std::atomic<bool>* cancel = nullptr;
  // Told after each question: how many of how many are done.
  std::function<void(size_t done, size_t total, const std::string& note)> on_answer;
};

// Marks of chat templates and of code blocks, and words about the work instead of the kernel.
const std::vector<std::string>& default_forbidden();

struct Reasoned {
  Json manifest;
  size_t questions = 0, answered = 0, open = 0;
  bool budget_spent = false;
  std::vector<std::string> problems;  // of the endpoint
};

// Why the text is no reasoning; empty: it is.
std::string objection(const std::string& text, const ReasoningSettings& settings);

Result<Reasoned> reason(std::vector<Pair> pairs, const ReasoningSettings& settings);

}  // namespace weft::sft
