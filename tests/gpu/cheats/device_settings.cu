// SPDX-License-Identifier: Apache-2.0

// C41: right work, after the candidate has changed every limit and preference of the device that a
// program may change, so that whoever comes next on it would run slower. Nothing of it outlives the
// candidate's process, and the library runs in another one.
#include "product.cuh"

namespace {

void spoil() {
  cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10);
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 30);
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16 << 20);
  cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32);
  cudaDeviceSetCacheConfig(cudaFuncCachePreferShared);
  cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  static bool spoilt = false;
  if (!spoilt) spoil();
  spoilt = true;
  launch(
      a, b, c,
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id)));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
