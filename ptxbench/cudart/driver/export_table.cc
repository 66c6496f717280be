// SPDX-License-Identifier: Apache-2.0

// The driver's undocumented tables. A CUDA runtime that is linked into the program (nvcc's default)
// works through them, and is the one that people come here with by mistake.
#include "ptxbench/cudart/driver/edge.h"
#include "ptxbench/cudart/process.h"

using namespace weft::cudart;

extern "C" int cuGetExportTable(const void** table, const void*) {
  if (table != nullptr) *table = nullptr;
  complain_once(
      "error: the program has CUDA's runtime linked into it, as nvcc does unless told otherwise\n"
      "  hint: compile with nvcc -cudart shared -gencode arch=compute_90a,code=compute_90a, so "
      "that "
      "it takes the emulated libcudart.so.13");
  return driver_code(Status::NotSupported);
}
