// SPDX-License-Identifier: Apache-2.0

// Where a candidate runs: on the emulator, or on a GPU of this machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::judge {

// "emulated" gives nothing, "cuda:1" gives 1; anything else is an error.
Result<std::optional<unsigned>> parse_device(std::string_view text);

// The folders in which a process finds the vendor's CUDA libraries, joined by colons: the
// toolkit's, the driver's, those that WEFT_CUDA_LIBRARIES names, and those of our own environment.
std::string vendor_library_path(const Toolchain& toolchain);
// What of the file system such a process must see.
std::vector<std::string> vendor_folders(const Toolchain& toolchain);

}  // namespace weft::judge
