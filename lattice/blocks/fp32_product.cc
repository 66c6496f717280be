// SPDX-License-Identifier: Apache-2.0

// Only this file sees oneDNN; LATTICE_WITH_ONEDNN says whether it was found.
#include "lattice/blocks/fp32_product.h"

#ifdef LATTICE_WITH_ONEDNN
#include <dnnl.h>
#endif

// OpenBLAS comes with LibTorch or not at all, so this may be null.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace weft::lattice {

#ifdef LATTICE_WITH_ONEDNN
void leave_threads_to_openmp() {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

bool fp32_product(const Fp32Product& product) {
  const auto [m, n, k] = product.shape;
  if (m == 0 || n == 0 || k == 0) return false;
  return dnnl_sgemm(product.a_turned ? 'T' : 'N', product.b_turned ? 'T' : 'N', m, n, k, 1.0f,
                    product.a, product.a_turned ? m : k, product.b, product.b_turned ? k : n, 0.0f,
                    product.c, n) == dnnl_success;
}
#else
void leave_threads_to_openmp() {}

bool fp32_product(const Fp32Product&) {
  return false;
}
#endif

}  // namespace weft::lattice
