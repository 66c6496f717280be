// SPDX-License-Identifier: Apache-2.0

// Gated delta net, several proposed tokens a sequence. The pool of states comes back as it was.
#include "gated_delta.cuh"

namespace {

using tvm::ffi::TensorView;

void run(TensorView q, TensorView k, TensorView v, TensorView initial_state, TensorView indices,
         TensorView a_log, TensorView a, TensorView dt_bias, TensorView b, float scale,
         TensorView output, TensorView final_state) {
  serving::Net net = serving::net_of(q, k, v, initial_state, a_log, a, dt_bias, b, scale, output);
  net.length = static_cast<int>(q.size(1));
  net.pool = weft::elements<const int>(indices);
  serving::launch(net, q.size(0), weft::stream_of(q));
  WEFT_CUDA_CHECK(cudaMemcpyAsync(final_state.data_ptr(), initial_state.data_ptr(),
                                  initial_state.numel() * sizeof(float), cudaMemcpyDeviceToDevice,
                                  weft::stream_of(q)));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
