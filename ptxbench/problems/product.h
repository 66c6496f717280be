// SPDX-License-Identifier: Apache-2.0

// Row-major matrix products through OpenBLAS, in float32 or float64.
#pragma once

#include <cstdint>

namespace weft::problems {

// c (m, n) = alpha * op(a) op(b) + beta * c, where op transposes if asked; k is the summed extent.
struct ProductShape {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
};

// Rows of a matrix, `stride` elements apart.
template <typename Real>
struct Rows {
  Real* data;
  int64_t stride;
};

template <typename Real>
void multiply(const ProductShape& shape, Real alpha, Rows<const Real> a, Rows<const Real> b,
              Real beta, Rows<Real> c);

// How many workers one product uses. It is a setting of the whole process.
void set_product_workers(int count);

}  // namespace weft::problems
