// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/product.h"

#include <cblas.h>

namespace weft::problems {
namespace {

CBLAS_TRANSPOSE order(bool transposed) {
  return transposed ? CblasTrans : CblasNoTrans;
}

}  // namespace

template <>
void multiply<float>(const ProductShape& shape, float alpha, Rows<const float> a,
                     Rows<const float> b, float beta, Rows<float> c) {
  cblas_sgemm(CblasRowMajor, order(shape.transpose_a), order(shape.transpose_b),
              static_cast<blasint>(shape.m), static_cast<blasint>(shape.n),
              static_cast<blasint>(shape.k), alpha, a.data, static_cast<blasint>(a.stride), b.data,
              static_cast<blasint>(b.stride), beta, c.data, static_cast<blasint>(c.stride));
}

template <>
void multiply<double>(const ProductShape& shape, double alpha, Rows<const double> a,
                      Rows<const double> b, double beta, Rows<double> c) {
  cblas_dgemm(CblasRowMajor, order(shape.transpose_a), order(shape.transpose_b),
              static_cast<blasint>(shape.m), static_cast<blasint>(shape.n),
              static_cast<blasint>(shape.k), alpha, a.data, static_cast<blasint>(a.stride), b.data,
              static_cast<blasint>(b.stride), beta, c.data, static_cast<blasint>(c.stride));
}

void set_product_workers(int count) {
  openblas_set_num_threads(count);
}

}  // namespace weft::problems
