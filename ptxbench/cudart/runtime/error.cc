// SPDX-License-Identifier: Apache-2.0

// Errors of the runtime API. None of these calls reports the state of the device.
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/status.h"

using namespace weft::cudart;

extern "C" {

const char* cudaGetErrorName(int error) {
  const char* name = runtime_error_name(error);
  return name != nullptr ? name : "unrecognized error code";
}
const char* cudaGetErrorString(int error) {
  const char* text = error_text(error);
  return text != nullptr ? text : "unrecognized error code";
}
int cudaGetLastError() {
  const int error = last_error();
  // The fault of a kernel stays: the context is lost.
  if (ready() == Status::Success) set_last_error(0);
  return error;
}
int cudaPeekAtLastError() {
  return last_error();
}

}  // extern "C"
