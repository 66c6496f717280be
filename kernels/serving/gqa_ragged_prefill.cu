// SPDX-License-Identifier: Apache-2.0

// Grouped-query attention over sequences whose queries and keys lie behind each other; causal,
// aligned at the end.
#include "attention_rows.cuh"

namespace {

using tvm::ffi::TensorView;

void run(TensorView q, TensorView k, TensorView v, TensorView qo_indptr, TensorView kv_indptr,
         float sm_scale, TensorView output, TensorView lse) {
  serving::Rows<__nv_bfloat16> rows = serving::packed(q, k, v, sm_scale);
  rows.key_heads = static_cast<int>(k.size(1));
  rows.query_offsets = weft::elements<const int>(qo_indptr);
  rows.key_offsets = weft::elements<const int>(kv_indptr);
  rows.causal = true;
  serving::launch(rows, static_cast<int>(q.size(0)), weft::elements<__nv_bfloat16>(output),
                  weft::elements<float>(lse), weft::stream_of(q));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
