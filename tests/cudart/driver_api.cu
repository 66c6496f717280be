// SPDX-License-Identifier: Apache-2.0

// The driver API by itself and beside the runtime: modules from PTX text, the linker, virtual memory,
// entry points by name, tensor maps.
#include <cstring>
#include <string>

#include <cuda.h>

#include "check.cuh"

const char* const kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .entry bump(.param .u64 out, .param .u32 amount)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [amount];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r2, [counter];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%rd2], %r3;
  ret;
}
)";
const char* const kCaller = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .entry double_it(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  {
  .param .b32 value;
  .param .b32 result;
  st.param.b32 [value], %r1;
  call.uni (result), twice, (value);
  ld.param.b32 %r2, [result];
  }
  st.global.u32 [%rd2], %r2;
  ret;
}
)";
const char* const kCallee = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [value];
  shl.b32 %r2, %r1, 1;
  st.param.b32 [result], %r2;
  ret;
}
)";

void modules() {
  CUmodule module;
  OK(cuModuleLoadData(&module, kPtx));
  CUfunction bump;
  OK(cuModuleGetFunction(&bump, module, "bump"));
  EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&bump, module, "absent"));
  OK(cuModuleGetFunction(&bump, module, "bump"));
  CUdeviceptr counter, out;
  size_t size = 0;
  OK(cuModuleGetGlobal(&counter, &size, module, "counter"));
  CHECK(size == 4);
  OK(cuMemAlloc(&out, 4));
  unsigned amount = 37, result = 0;
  void* arguments[] = {&out, &amount};
  OK(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH(&result, out, 4));
  CHECK(result == 42);
  struct {
    CUdeviceptr out;
    unsigned amount;
  } packed = {out, 1};
  size_t packed_size = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &packed_size, CU_LAUNCH_PARAM_END};
  OK(cuMemsetD32(counter, 8, 1));
  OK(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  OK(cuMemcpyDtoH(&result, out, 4));
  CHECK(result == 9);
  OK(cuMemFree(out));
  OK(cuModuleUnload(module));

  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const std::string wrong = std::string(kPtx).replace(std::string(kPtx).find("add.u32"), 3, "adx");
  CHECK(cuModuleLoadDataEx(&module, wrong.c_str(), 2, options, values) != CUDA_SUCCESS);
  CHECK(std::strlen(log) > 0);
}

void linking() {
  CUlinkState state;
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kCaller), std::strlen(kCaller) + 1,
                   "caller", 0, nullptr, nullptr));
  OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kCallee), std::strlen(kCallee) + 1,
                   "callee", 0, nullptr, nullptr));
  void* image = nullptr;
  size_t size = 0;
  OK(cuLinkComplete(state, &image, &size));
  CHECK(size > 0);
  CUmodule module;
  CUfunction function;
  OK(cuModuleLoadData(&module, image));
  OK(cuModuleGetFunction(&function, module, "double_it"));
  CUdeviceptr out;
  OK(cuMemAlloc(&out, 4));
  OK(cuMemsetD32(out, 21, 1));
  void* arguments[] = {&out};
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned result = 0;
  OK(cuMemcpyDtoH(&result, out, 4));
  CHECK(result == 42);
  OK(cuLinkDestroy(state));
  OK(cuModuleUnload(module));
  OK(cuMemFree(out));
}

void virtual_memory() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t granularity = 0;
  OK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CHECK(granularity > 0);
  CUdeviceptr base;
  OK(cuMemAddressReserve(&base, 2 * granularity, 0, 0, 0));
  CUmemGenericAllocationHandle handles[2];
  CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  for (int i = 0; i < 2; ++i) {
    OK(cuMemCreate(&handles[i], granularity, &properties, 0));
    OK(cuMemMap(base + i * granularity, granularity, 0, handles[i], 0));
  }
  OK(cuMemSetAccess(base, 2 * granularity, &access, 1));
  OK(cuMemsetD8(base, 0x5a, 2 * granularity));
  unsigned char byte = 0;
  OK(cuMemcpyDtoH(&byte, base + 2 * granularity - 1, 1));
  CHECK(byte == 0x5a);
  OK(cuMemUnmap(base, 2 * granularity));
  for (const auto handle : handles) OK(cuMemRelease(handle));
  OK(cuMemAddressFree(base, 2 * granularity));
}

void entry_points() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                      cudaEnableDefault, &found));
  CHECK(found == cudaDriverEntryPointSuccess && function != nullptr);
  auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  CUdeviceptr tensor;
  OK(cuMemAlloc(&tensor, 64 * 64 * 2));
  alignas(64) CUtensorMap map;
  const cuuint64_t extents[] = {64, 64}, strides[] = {128};
  cuuint32_t box[] = {64, 8};
  const cuuint32_t steps[] = {1, 1};
  const auto call = [&](CUtensorMapSwizzle swizzle) {
    return encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void*>(tensor),
                  extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  OK(call(CU_TENSOR_MAP_SWIZZLE_128B));
  EXPECT(CUDA_ERROR_INVALID_VALUE, call(CU_TENSOR_MAP_SWIZZLE_64B));
  box[1] = 257;
  EXPECT(CUDA_ERROR_INVALID_VALUE, call(CU_TENSOR_MAP_SWIZZLE_128B));
  OK(cuMemFree(tensor));
  CUdriverProcAddressQueryResult result;
  OK(cuGetProcAddress("cuMemAlloc", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  CHECK(function == reinterpret_cast<void*>(&cuMemAlloc));
}

int main() {
  CUdevice device;
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  char name[64];
  OK(cuDeviceGetName(name, sizeof name, device));
  CUdeviceptr nowhere;
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&nowhere, 4));
  CUcontext context, current;
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  OK(cuCtxGetCurrent(&current));
  CHECK(current == context);
  const char* text = nullptr;
  OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  CHECK(!std::strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
  modules();
  linking();
  virtual_memory();
  entry_points();
  OK(cuDevicePrimaryCtxRelease(device));
  return passed();
}
