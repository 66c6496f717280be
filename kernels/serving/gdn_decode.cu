// SPDX-License-Identifier: Apache-2.0

// Gated delta net, one token a sequence.
#include "gated_delta.cuh"

namespace {

using tvm::ffi::TensorView;

void run(TensorView q, TensorView k, TensorView v, TensorView state, TensorView a_log, TensorView a,
         TensorView dt_bias, TensorView b, float scale, TensorView output, TensorView new_state) {
  serving::Net net = serving::net_of(q, k, v, state, a_log, a, dt_bias, b, scale, output);
  net.length = 1;
  net.new_state = weft::elements<float>(new_state);
  serving::launch(net, q.size(0), weft::stream_of(q));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
