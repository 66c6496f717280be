// SPDX-License-Identifier: Apache-2.0

// C = A * transpose(B) through OpenBLAS. Products of bfloat16 numbers are exact in float32, so only
// the sums round: about 1e-6 relative to the sum of magnitudes, four digits below the tolerance.
#include <cblas.h>

#include "base/parallel.h"
#include "ptxbench/problems/reference.h"

namespace weft::problems {

Expected gemm_reference(const Task& task, const std::vector<Tensor>& inputs) {
  const auto m = static_cast<blasint>(task.axis("M"));
  const auto n = static_cast<blasint>(task.axis("N"));
  const auto k = static_cast<blasint>(task.axis("K"));
  const std::vector<float> a = to_float(inputs[0]);
  const std::vector<float> b = to_float(inputs[1]);
  std::vector<float> c(static_cast<size_t>(m) * static_cast<size_t>(n));
  openblas_set_num_threads(static_cast<int>(host_workers()));
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, a.data(), k, b.data(), k,
              0.0f, c.data(), n);
  return {std::move(c)};
}

}  // namespace weft::problems
