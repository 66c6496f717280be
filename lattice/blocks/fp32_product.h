// SPDX-License-Identifier: Apache-2.0

// fp32 matrix products on the CPU by oneDNN instead of OpenBLAS, which LibTorch calls. Where one
// side is as narrow as a token (64 numbers) oneDNN does 1.5 to 2 times as many operations a second;
// and it works with the OpenMP threads of everything else, while OpenBLAS has its own, and the idle
// threads of one wait by spinning on the cores that the other needs.
#pragma once

#include <cstdint>

namespace weft::lattice {

struct ProductShape {
  int64_t m, n, k;
};

// c [m, n] = a [m, k] times b [k, n], rows one after the other. With a_turned a lies as [k, m],
// with b_turned b lies as [n, k]. False, and nothing done: the shape is not narrow, or there is no
// oneDNN.
struct Fp32Product {
  ProductShape shape;
  const float* a;
  const float* b;
  float* c;
  bool a_turned = false, b_turned = false;
};
bool fp32_product(const Fp32Product& product);

// Where products are oneDNN's, OpenBLAS is left with one thread for the small ones that still reach
// it.
void leave_threads_to_openmp();

}  // namespace weft::lattice
