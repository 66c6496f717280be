// SPDX-License-Identifier: Apache-2.0

// Multi-head latent attention, one query a sequence: one compressed key of 512, which is the value
// too, and one positional key of 64 for all heads, in pages.
#include "attention_rows.cuh"

namespace {

using tvm::ffi::TensorView;

void run(TensorView q_nope, TensorView q_pe, TensorView ckv_cache, TensorView kpe_cache,
         TensorView kv_indptr, TensorView kv_indices, float sm_scale, TensorView output,
         TensorView lse) {
  serving::Rows<__nv_bfloat16> rows = serving::packed(q_nope, ckv_cache, ckv_cache, sm_scale);
  rows.q[1] = weft::elements<const __nv_bfloat16>(q_pe);
  rows.k[1] = weft::elements<const __nv_bfloat16>(kpe_cache);
  rows.width[1] = static_cast<int>(kpe_cache.size(2));
  rows.page_size = static_cast<int>(ckv_cache.size(1));
  rows.key_offsets = weft::elements<const int>(kv_indptr);
  rows.pages = weft::elements<const int>(kv_indices);
  serving::launch(rows, static_cast<int>(q_nope.size(0)), weft::elements<__nv_bfloat16>(output),
                  weft::elements<float>(lse), weft::stream_of(q_nope));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
