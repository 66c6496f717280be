// SPDX-License-Identifier: Apache-2.0

// The first program of every CUDA course, with a ragged last block.
#include <vector>

#include "check.cuh"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 10007;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i + 1;
  float *da, *db, *dc;
  OK(cudaMalloc(&da, n * sizeof(float)));
  OK(cudaMalloc(&db, n * sizeof(float)));
  OK(cudaMalloc(&dc, n * sizeof(float)));
  OK(cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  OK(cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(c[i] == 3.0f * i + 1);
  OK(cudaFree(da));
  OK(cudaFree(db));
  OK(cudaFree(dc));
  return passed();
}
