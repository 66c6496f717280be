// SPDX-License-Identifier: Apache-2.0

// What a program hands over as device code: the wrapper that nvcc emits, a bare fat binary, PTX
// text or a cubin. Turns each into PTX, or says what is wrong and how to compile instead.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

struct ImageText {
  Status status = Status::Success;  // else what the API call answers
  Error why;                        // when it failed
  // One text; several when the program was compiled with -rdc=true and is linked at load time.
  std::vector<std::string> units;
};

// Reads the image at an address for a device of this compute capability. Nothing says how long the
// image is, so its own headers are believed only as far as the memory is readable.
ImageText read_image(const void* image, int major, int minor);

}  // namespace weft::cudart
