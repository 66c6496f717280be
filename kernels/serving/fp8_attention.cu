// SPDX-License-Identifier: Apache-2.0

// Attention over e4m3 tensors [batch, heads, tokens, d] with a scale each; every head is a sequence
// of its own. WEFT_CAUSAL hides keys behind the query. The scales stay on the device: what the host
// does may not depend on data.
#include "attention_rows.cuh"

#ifndef WEFT_CAUSAL
#define WEFT_CAUSAL 0
#endif

namespace {

using tvm::ffi::TensorView;

void run(TensorView q, TensorView k, TensorView v, TensorView descale_q, TensorView descale_k,
         TensorView descale_v, TensorView output, TensorView lse) {
  serving::Rows<__nv_fp8_e4m3> rows{};
  rows.q[0] = rows.q[1] = weft::elements<const __nv_fp8_e4m3>(q);
  rows.k[0] = rows.k[1] = weft::elements<const __nv_fp8_e4m3>(k);
  rows.v = weft::elements<const __nv_fp8_e4m3>(v);
  rows.width[0] = rows.value_width = static_cast<int>(q.size(3));
  rows.heads = rows.key_heads = rows.page_size = 1;
  rows.length = static_cast<int>(q.size(2));
  rows.causal = WEFT_CAUSAL != 0;
  rows.scale = 1 / std::sqrt(static_cast<float>(rows.value_width));
  rows.scale_q = weft::elements<const float>(descale_q);
  rows.scale_k = weft::elements<const float>(descale_k);
  rows.scale_v = weft::elements<const float>(descale_v);
  rows.lse_factor = 1;
  serving::launch(rows, static_cast<int>(q.size(0) * q.size(1)) * rows.length,
                  weft::elements<__nv_fp8_e4m3>(output), weft::elements<float>(lse),
                  weft::stream_of(q));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
