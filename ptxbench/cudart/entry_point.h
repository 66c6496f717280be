// SPDX-License-Identifier: Apache-2.0

// Driver functions by name, as cuGetProcAddress and cudaGetDriverEntryPoint find them: the plain
// name and a CUDA version pick one of the versions of a function (cuMemAlloc: cuMemAlloc_v2).
#pragma once

#include <string_view>

#include "ptxbench/cudart/abi.h"

namespace weft::cudart {

struct EntryPoint {
  // Numbered as CUdriverProcAddressQueryResult.
  enum class Result : int { Success, NotFound, VersionNotSufficient };
  void* function = nullptr;
  Result result = Result::NotFound;
};

EntryPoint find_driver_function(std::string_view name, int version);

}  // namespace weft::cudart
