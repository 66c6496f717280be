// SPDX-License-Identifier: Apache-2.0

// Streams keep their order, events tell times, callbacks run, stale handles are refused.
#include "check.cuh"

__global__ void add_to(int* value, int amount) { *value += amount; }

void CUDART_CB count(void* user) { ++*static_cast<int*>(user); }
void CUDART_CB count_with_status(cudaStream_t, cudaError_t status, void* user) {
  if (status == cudaSuccess) ++*static_cast<int*>(user);
}

int main() {
  int least = 0, greatest = 0;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(greatest <= least);
  cudaStream_t first, second;
  OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithPriority(&second, cudaStreamDefault, greatest));
  unsigned flags = 0;
  OK(cudaStreamGetFlags(first, &flags));
  CHECK(flags == cudaStreamNonBlocking);
  int priority = 1;
  OK(cudaStreamGetPriority(second, &priority));
  CHECK(priority == greatest);

  int *device, *host, calls = 0;
  OK(cudaMalloc(&device, sizeof(int)));
  OK(cudaMallocHost(&host, sizeof(int)));
  cudaEvent_t start, middle, end, untimed;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&middle));
  OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  OK(cudaEventRecord(start, first));
  OK(cudaMemsetAsync(device, 0, sizeof(int), first));
  for (int i = 1; i <= 10; ++i) add_to<<<1, 1, 0, first>>>(device, i);
  OK(cudaEventRecord(middle, first));
  OK(cudaStreamWaitEvent(second, middle, 0));
  add_to<<<1, 1, 0, second>>>(device, 100);
  OK(cudaLaunchHostFunc(second, count, &calls));
  OK(cudaStreamAddCallback(second, count_with_status, &calls, 0));
  OK(cudaMemcpyAsync(host, device, sizeof(int), cudaMemcpyDeviceToHost, second));
  OK(cudaEventRecord(end, second));
  OK(cudaEventSynchronize(end));
  OK(cudaEventQuery(middle));
  OK(cudaStreamQuery(second));
  CHECK(*host == 155);
  CHECK(calls == 2);
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds >= 0);
  OK(cudaEventRecord(untimed, second));
  EXPECT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
  (void)cudaGetLastError();
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(middle));
  OK(cudaEventDestroy(end));
  OK(cudaEventDestroy(untimed));
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  return passed();
}
