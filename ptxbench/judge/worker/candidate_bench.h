// SPDX-License-Identifier: Apache-2.0

// The candidate on a bench: the process that a GPU's counters and clocks are read in.
#pragma once

namespace weft::judge {

// Paths of the two orders; returns the process's exit code.
int bench_candidate(const char* orders_file, const char* bench_file);

}  // namespace weft::judge
