// SPDX-License-Identifier: Apache-2.0

// Graphs: captured from two streams, built node by node, cloned, updated, and refused when a capture
// goes wrong.
#include <vector>

#include "check.cuh"

__global__ void add_to(int* value, int amount) { *value += amount; }
__global__ void times(int* value, int factor) { *value *= factor; }
void CUDART_CB count(void* user) { ++*static_cast<int*>(user); }

int read(const int* device) {
  int value = 0;
  OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void captured(int* device) {
  cudaStream_t main, side;
  cudaEvent_t fork, join;
  OK(cudaStreamCreate(&main));
  OK(cudaStreamCreate(&side));
  OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  OK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(device, 0, 2 * sizeof(int), main));
  OK(cudaEventRecord(fork, main));
  OK(cudaStreamWaitEvent(side, fork, 0));
  add_to<<<1, 1, 0, main>>>(device, 3);
  add_to<<<1, 1, 0, side>>>(device + 1, 5);
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(side, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  OK(cudaEventRecord(join, side));
  OK(cudaStreamWaitEvent(main, join, 0));
  times<<<1, 1, 0, main>>>(device, 7);
  cudaGraph_t graph;
  OK(cudaStreamDestroy(side));   // its work has been joined
  OK(cudaStreamEndCapture(main, &graph));
  OK(cudaStreamCreate(&side));
  OK(cudaStreamIsCapturing(side, &status));
  CHECK(status == cudaStreamCaptureStatusNone);

  size_t nodes = 0, edges = 0, roots = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(nodes == 4 && edges == 4 && roots == 1);
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int round = 0; round < 3; ++round) {
    OK(cudaGraphLaunch(executable, main));
    OK(cudaStreamSynchronize(main));
    CHECK(read(device) == 21 && read(device + 1) == 5);
  }
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));

  // Work that never comes back to the origin.
  OK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, main));
  OK(cudaStreamWaitEvent(side, fork, 0));
  add_to<<<1, 1, 0, side>>>(device, 1);
  EXPECT(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(main, &graph));
  // Waiting inside a capture.
  OK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(main));
  EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(main, &graph));
  (void)cudaGetLastError();
  OK(cudaEventDestroy(fork));
  OK(cudaEventDestroy(join));
  OK(cudaStreamDestroy(main));
  OK(cudaStreamDestroy(side));
}

void built(int* device) {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill, kernel, copy, host, empty;
  cudaMemsetParams zero = {};
  zero.dst = device;
  zero.elementSize = 4;
  zero.value = 11;
  zero.width = 1;
  zero.height = 1;
  OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  int amount = 4;
  void* arguments[] = {&device, &amount};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(add_to);
  launch.gridDim = launch.blockDim = dim3(1);
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  amount = 1000;   // the node has its own copy
  int result = 0, calls = 0;
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, &result, device, sizeof(int),
                              cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {count, &calls};
  OK(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
  OK(cudaGraphAddEmptyNode(&empty, graph, &host, 1));
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(kernel, &type));
  CHECK(type == cudaGraphNodeTypeKernel);
  EXPECT(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &fill, &kernel, nullptr, 1));

  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(result == 15 && calls == 1);

  amount = 30;
  OK(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
  OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(result == 41 && calls == 2);
  OK(cudaGraphNodeSetEnabled(executable, kernel, 0));
  OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(result == 11);
  OK(cudaGraphNodeSetEnabled(executable, kernel, 1));

  cudaGraph_t clone;
  cudaGraphNode_t twin;
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphNodeFindInClone(&twin, kernel, clone));
  amount = 9;
  OK(cudaGraphKernelNodeSetParams(twin, &launch));
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(executable, clone, &info));
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(result == 20);

  cudaGraph_t outer;
  cudaGraphNode_t child;
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  cudaGraphExec_t outer_executable;
  OK(cudaGraphInstantiate(&outer_executable, outer, 0));
  OK(cudaGraphLaunch(outer_executable, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(result == 15);
  OK(cudaGraphExecDestroy(outer_executable));
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(outer));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphDestroy(graph));
  (void)cudaGetLastError();
}

int main() {
  int* device;
  OK(cudaMalloc(&device, 2 * sizeof(int)));
  captured(device);
  built(device);
  OK(cudaFree(device));
  return passed();
}
