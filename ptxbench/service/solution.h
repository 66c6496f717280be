// SPDX-License-Identifier: Apache-2.0

// A solution as the FlashInfer Trace schema sends it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "ptxbench/service/fields.h"

namespace weft::service {

struct Solution {
  std::string name, definition, author;
  std::string language;                    // "cuda" or "ptx"
  std::string entry_file, entry_function;  // "kernel.cu::run"
  std::string binding;                     // as given; may be empty
  std::vector<std::string> dependencies;
  std::vector<std::pair<std::string, std::string>> sources;  // path, content

  // The name with the first eight digits of the contract's hash over definition, language, entry
  // point, binding, dependencies and sources: the same code has the same name everywhere.
  std::string normalized_name() const;
};

// What is wrong goes into `issues`, with its place.
Solution read_solution(const Json& json, const Place& place, Issues& issues);

Json to_json(const Solution& solution);

}  // namespace weft::service
