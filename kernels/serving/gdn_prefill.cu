// SPDX-License-Identifier: Apache-2.0

// Gated delta net over sequences that lie behind each other.
#include "gated_delta.cuh"

namespace {

using tvm::ffi::TensorView;

void run(TensorView q, TensorView k, TensorView v, TensorView state, TensorView a_log, TensorView a,
         TensorView dt_bias, TensorView b, TensorView cu_seqlens, float scale, TensorView output,
         TensorView new_state) {
  serving::Net net = serving::net_of(q, k, v, state, a_log, a, dt_bias, b, scale, output);
  net.offsets = weft::elements<const int64_t>(cu_seqlens);
  net.new_state = weft::elements<float>(new_state);
  serving::launch(net, cu_seqlens.numel() - 1, weft::stream_of(q));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
