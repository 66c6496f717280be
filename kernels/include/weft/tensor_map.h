// SPDX-License-Identifier: Apache-2.0

// Host side of TMA: encodes a tensor map. cuTensorMapEncodeTiled belongs to the driver; asking the
// runtime for its address keeps a candidate free of a link-time dependency on libcuda.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <tvm/ffi/error.h>

#include <cstdint>

#define WEFT_CUDA_CHECK(call)                                             \
  do {                                                                    \
    const cudaError_t weft_status = (call);                               \
    TVM_FFI_CHECK(weft_status == cudaSuccess, RuntimeError)               \
        << #call << " returned " << static_cast<int>(weft_status) << ", " \
        << cudaGetErrorString(weft_status);                               \
  } while (0)

namespace weft {

inline decltype(&cuTensorMapEncodeTiled) tensor_map_encoder() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  WEFT_CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                                   cudaEnableDefault, &found));
  TVM_FFI_CHECK(found == cudaDriverEntryPointSuccess && entry != nullptr, RuntimeError)
      << "the driver offers no cuTensorMapEncodeTiled";
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
}

// A map of a bf16 tensor. Extents and boxes in elements, innermost first; strides in bytes, of the
// dimensions above the innermost, multiples of 16. The innermost box is 64 elements wide for the
// 128-byte swizzle.
template <int kRank>
CUtensorMap bf16_tensor_map(void* base, const uint64_t (&extents)[kRank],
                            const uint64_t (&strides)[kRank - 1], const uint32_t (&box)[kRank],
                            CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) {
  CUtensorMap map;
  cuuint64_t dimensions[kRank];
  cuuint64_t byte_strides[kRank - 1];
  cuuint32_t box_dimensions[kRank];
  cuuint32_t element_strides[kRank];
  for (int i = 0; i < kRank; ++i) {
    dimensions[i] = extents[i];
    box_dimensions[i] = box[i];
    element_strides[i] = 1;
  }
  for (int i = 0; i + 1 < kRank; ++i) byte_strides[i] = strides[i];
  const CUresult status = tensor_map_encoder()(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kRank, base, dimensions, byte_strides, box_dimensions,
      element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TVM_FFI_CHECK(status == CUDA_SUCCESS, RuntimeError)
      << "cuTensorMapEncodeTiled returned " << static_cast<int>(status)
      << ": the base must be a multiple of 16 bytes, and so must every stride";
  return map;
}

}  // namespace weft
