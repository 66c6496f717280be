// SPDX-License-Identifier: Apache-2.0

// D = A * transpose(B) in e4m3; a scale for each row and 128 columns of A, and for each block of 128 x 128 of B.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

namespace {

using tvm::ffi::TensorView;

constexpr int kBlock = 128;

__global__ void multiply(const __nv_fp8_e4m3* a, const float* scale_a, const __nv_fp8_e4m3* b,
                         const float* scale_b, __nv_bfloat16* d, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column >= n) return;
  const int blocks = k / kBlock;
  float sum = 0;
  for (int block = 0; block < blocks; ++block) {
    float part = 0;
    for (int i = block * kBlock; i < (block + 1) * kBlock; ++i) {
      part = fmaf(static_cast<float>(a[static_cast<int64_t>(row) * k + i]),
                  static_cast<float>(b[static_cast<int64_t>(column) * k + i]), part);
    }
    sum += part * (scale_a[row * blocks + block] * scale_b[column / kBlock * blocks + block]);
  }
  d[static_cast<int64_t>(row) * n + column] = __float2bfloat16(sum);
}

void run(TensorView a, TensorView scale_a, TensorView b, TensorView scale_b, TensorView d) {
  const int m = static_cast<int>(a.size(0)), n = static_cast<int>(b.size(0));
  multiply<<<dim3((n + 127) / 128, m), 128, 0, weft::stream_of(a)>>>(
      weft::elements<const __nv_fp8_e4m3>(a), weft::elements<const float>(scale_a),
      weft::elements<const __nv_fp8_e4m3>(b), weft::elements<const float>(scale_b),
      weft::elements<__nv_bfloat16>(d), m, n, static_cast<int>(a.size(1)));
  WEFT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
