// SPDX-License-Identifier: Apache-2.0

// Grouped-query attention over sequences of several queries, keys and values in pages
// [pages, page size, key heads, 128]; causal, aligned at the end. WEFT_LAST_PAGE:
// pages of several tokens, the last of a sequence in part.
#include "attention_rows.cuh"

namespace {

using tvm::ffi::TensorView;

void run(TensorView q, TensorView k_cache, TensorView v_cache, TensorView qo_indptr,
         TensorView kv_indptr, TensorView kv_indices,
#ifdef WEFT_LAST_PAGE
         TensorView kv_last_page_len,
#endif
         float sm_scale, TensorView output, TensorView lse) {
  serving::Rows<__nv_bfloat16> rows = serving::packed(q, k_cache, v_cache, sm_scale);
  rows.key_heads = static_cast<int>(k_cache.size(2));
  rows.page_size = static_cast<int>(k_cache.size(1));
  rows.query_offsets = weft::elements<const int>(qo_indptr);
  rows.key_offsets = weft::elements<const int>(kv_indptr);
  rows.pages = weft::elements<const int>(kv_indices);
#ifdef WEFT_LAST_PAGE
  rows.last_page = weft::elements<const int>(kv_last_page_len);
#endif
  rows.causal = true;
  serving::launch(rows, static_cast<int>(q.size(0)), weft::elements<__nv_bfloat16>(output),
                  weft::elements<float>(lse), weft::stream_of(q));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
