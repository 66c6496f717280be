// SPDX-License-Identifier: Apache-2.0

// What a model is told before its first answer. The system prompt is instructions, the candidate
// contract and hint packs; the task is written from the definition's public part. Nothing else of
// the definition is used: its reference, its tolerances and the seeds stay with the judge.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/workload.h"

namespace weft::agent {

class PromptBook {
 public:
  // A folder with system.md, contract.md, tags.json and packs/.
  static Result<PromptBook> open(const std::string& folder);

  // `tag` names packs or tags of tags.json, composed by "+": "hopper+debug". An unknown word is an
  // error.
  Result<std::string> system(const std::string& tag) const;
  Result<std::vector<std::string>> packs(const std::string& tag) const;  // in order, each once
  std::vector<std::string> tags() const;
  std::vector<std::string> pack_names() const;
  const std::string& pack(const std::string& name) const { return packs_.at(name); }

 private:
  std::string instructions_;
  std::map<std::string, std::string> packs_;
  std::map<std::string, std::vector<std::string>> tags_;
};

// `architecture` is "hopper" or "blackwell".
std::string task_prompt(const problems::Task& task, std::string_view architecture);

// About how many tokens a text is to a model: four bytes each. Answers report the exact number.
int64_t estimated_tokens(const std::string& text);

}  // namespace weft::agent
