// SPDX-License-Identifier: Apache-2.0

// The metrics of a run: files in its folder report/, and the main numbers on the terminal.
#pragma once

#include <string>

namespace weft::ptxbench {

bool is_run(const std::string& path);  // a run's folder, or a per-turn table

// Prints, and returns the exit code.
int report_run(const std::string& path, bool json);

}  // namespace weft::ptxbench
