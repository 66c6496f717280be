// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/worker/timing_runtime.h"

#include "base/vendor_library.h"

namespace weft::judge {

Result<TimingRuntime> TimingRuntime::open() {
  const VendorLibrary library =
      TRY(VendorLibrary::open({"libcudart.so.13"}, VendorLibrary::Symbols::Global));
  TimingRuntime runtime;
  TRY(library.find("cudaMemcpy2D", runtime.copy_rows));
  TRY(library.find("cudaDeviceGetAttribute", runtime.attribute));
  TRY(library.find("cudaCtxResetPersistingL2Cache", runtime.drop_persisting_lines));
  TRY(library.find("cudaEventCreate", runtime.create_event));
  TRY(library.find("cudaEventRecord", runtime.record_event));
  TRY(library.find("cudaEventElapsedTime", runtime.elapsed));
  TRY(library.find("cudaFree", runtime.release));
  TRY(library.find("cudaProfilerStart", runtime.start_profiler));
  TRY(library.find("cudaProfilerStop", runtime.stop_profiler));
  return runtime;
}

}  // namespace weft::judge
