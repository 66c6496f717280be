// SPDX-License-Identifier: Apache-2.0

// Ordinary CUDA code, as people write it before tensor cores: the subjects of bench/scalar_code.cc.
// Compiled to PTX only; every kernel's answer is checked by the benchmark.

extern "C" {

// Row-wise softmax, one block of 256 threads a row. x, y: (rows, columns).
__global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float partial[8];
  const float* row = x + blockIdx.x * (long long)columns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) top = fmaxf(top, row[i]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
  if (lane == 0) partial[warp] = top;
  __syncthreads();
  top = partial[0];
  for (int w = 1; w < 8; ++w) top = fmaxf(top, partial[w]);
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - top);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < 8; ++w) sum += partial[w];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[blockIdx.x * (long long)columns + i] = expf(row[i] - top) / sum;
}

// C = A B in 16 x 16 tiles through shared memory. A, B, C: (n, n), n a multiple of 16.
__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Accelerations of n bodies (x, y, z, mass) under gravity, all pairs.
__global__ void bodies(const float4* p, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = p[j];
    const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    const float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
    const float inverse = rsqrtf(d2);
    const float f = other.w * inverse * inverse * inverse;
    ax += f * dx;
    ay += f * dy;
    az += f * dz;
  }
  out[i] = make_float4(ax, ay, az, 0);
}

// Collatz steps of 1 .. n: integer work with divergence.
__global__ void collatz(int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = i + 1;
  int count = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++count;
  }
  steps[i] = count;
}

// Counts of the low byte of each value, first per block in shared memory.
__global__ void histogram(const unsigned* values, unsigned* counts, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[values[i] & 255], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// y = a x + y.
__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// out = in^T through 32 x 32 tiles whose rows are one word longer, by blocks of 32 x 8 threads.
// in, out: (n, n), n a multiple of 32.
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

// One step of the heat equation on an (n, n) grid; the border stays.
__global__ void heat(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  const float here = in[i];
  float next = here;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    next = here + 0.2f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] - 4 * here);
  out[i] = next;
}

// Sum of n numbers: a tree in shared memory per block of 256, then one atomic.
__global__ void reduction(const int* values, int* total, int n) {
  __shared__ int sums[256];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += values[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(total, sums[0]);
}

}
