// SPDX-License-Identifier: Apache-2.0

// The catalogue of faults that people and models make in kernels, each with the places of a source
// where it could be made. A place is found by its tokens, so that any kernel will do; whether the
// changed kernel is really wrong, and how it shows, is the judge's to say.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptxbench/sft/cuda_text.h"

namespace weft::sft {

// One change of a source.
struct Site {
  size_t offset = 0, length = 0;
  std::string replacement;
  uint32_t line = 0;
};

struct Fault {
  std::string_view name;     // "barrier_count"
  std::string_view meaning;  // what is wrong, as a sentence that a repair may begin with
  // Error classes (agent::VerdictSummary) in which it may show, separated by "|". A mutant that
  // fails in another way is another fault than it is labelled with.
  std::string_view shows_as;
  std::vector<Site> (*sites)(const CudaText& text);
};

std::span<const Fault> fault_catalogue();
// Null when there is none of this name.
const Fault* fault_named(std::string_view name);

bool may_show_as(const Fault& fault, std::string_view error_class);

std::string with_fault(const std::string& source, const Site& site);

// At most `count` of the sites, evenly spread over the source.
std::vector<Site> spread(const std::vector<Site>& sites, size_t count);

}  // namespace weft::sft
