// SPDX-License-Identifier: Apache-2.0

// What Nsight Compute prints of the instructions that kernels executed, with
//
//   ncu --section SourceCounters --page source --csv --print-kernel-base mangled
//
//   "Kernel Name","_Z7productPf",
//   "Address","Source",...,"Instructions Executed",...,"Predicated-On Thread Instructions
//   Executed",... "0x7f683b7a0000","      LDC R1, c[0x0][0x28]","0",...
//
// One such table follows another, two or more for each launch: version 2025.3 prints every table
// twice. Lines that start otherwise ("==PROF== Connected ...") are its talk.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/sass_count.h"

namespace weft::judge {

// The options above; a file for the tables is named with --log-file.
std::vector<std::string> ncu_options(const std::string& log_file);

// The executions of all launches, each instruction of a function once. `launches` is how many
// kernels were launched meanwhile: an equal number of equal tables must follow each other for each.
Result<std::vector<SassCount>> read_ncu_page(std::string_view text, uint64_t launches);

}  // namespace weft::judge
