// SPDX-License-Identifier: Apache-2.0

// Encoding of tensor maps (cuTensorMapEncodeTiled and friends), with the driver's checks.
#pragma once

#include <cstdint>
#include <string>

#include "ptxbench/cudart/status.h"
#include "ptxbench/emulator/tensor_map.h"

namespace weft::cudart {

// The parameters that every mode shares, numbered as the driver's enumerations.
struct TensorMapRequest {
  int element = 0;
  uint32_t rank = 0;
  void* address = nullptr;
  const uint64_t* extents = nullptr;          // rank of them, innermost first
  const uint64_t* strides = nullptr;          // rank - 1, in bytes
  const uint32_t* element_strides = nullptr;  // rank of them
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

// The map is written only on success. `why` then stays empty; on failure it names the parameter.
Status encode_tiled(emulator::TensorMap* map, const TensorMapRequest& request, const uint32_t* box,
                    int compute_major, std::string& why);
Status encode_im2col(emulator::TensorMap* map, const TensorMapRequest& request, const int* lower,
                     const int* upper, uint32_t channels, uint32_t pixels, int compute_major,
                     std::string& why);
Status replace_address(emulator::TensorMap* map, void* address, std::string& why);

}  // namespace weft::cudart
