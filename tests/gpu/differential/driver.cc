// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/differential/driver.h"

#include <dlfcn.h>

#include "tests/gpu/differential/program.h"

namespace weft::differential {

namespace {

// CUresult and handles as the driver API's ABI has them; the suite's few calls only.
using Status = int;
using Handle = void*;

template <typename F>
F find(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

Error failed(const char* what, Status status) {
  return Error(std::string(what) + " answered CUDA error " + std::to_string(status));
}

}  // namespace

Result<Driver> Driver::create() {
  Driver driver;
  driver.library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (driver.library_ == nullptr)
    return Error(
        std::string("no CUDA driver: ") + dlerror(),
        "run on a machine with a GPU, or put the emulator's library folder into LD_LIBRARY_PATH");
  auto* init = find<Status (*)(unsigned)>(driver.library_, "cuInit");
  auto* get = find<Status (*)(int*, int)>(driver.library_, "cuDeviceGet");
  auto* name = find<Status (*)(char*, int, int)>(driver.library_, "cuDeviceGetName");
  auto* version = find<Status (*)(int*)>(driver.library_, "cuDriverGetVersion");
  auto* retain = find<Status (*)(Handle*, int)>(driver.library_, "cuDevicePrimaryCtxRetain");
  auto* current = find<Status (*)(Handle)>(driver.library_, "cuCtxSetCurrent");
  if (init == nullptr || get == nullptr || name == nullptr || version == nullptr ||
      retain == nullptr || current == nullptr)
    return Error("the CUDA driver lacks a basic entry point");
  if (Status s = init(0); s != 0) return failed("cuInit", s);
  int device = 0;
  if (Status s = get(&device, 0); s != 0) return failed("cuDeviceGet", s);
  char text[128] = {};
  if (Status s = name(text, sizeof text, device); s != 0) return failed("cuDeviceGetName", s);
  driver.device_ = text;
  version(&driver.version_);
  Handle context = nullptr;
  if (Status s = retain(&context, device); s != 0) return failed("cuDevicePrimaryCtxRetain", s);
  if (Status s = current(context); s != 0) return failed("cuCtxSetCurrent", s);
  return driver;
}

Result<std::vector<uint64_t>> Driver::run(const std::string& ptx,
                                          const std::vector<std::vector<uint64_t>>& operands) {
  auto* load = find<Status (*)(Handle*, const void*)>(library_, "cuModuleLoadData");
  auto* unload = find<Status (*)(Handle)>(library_, "cuModuleUnload");
  auto* function = find<Status (*)(Handle*, Handle, const char*)>(library_, "cuModuleGetFunction");
  auto* allocate = find<Status (*)(uint64_t*, size_t)>(library_, "cuMemAlloc_v2");
  auto* free_memory = find<Status (*)(uint64_t)>(library_, "cuMemFree_v2");
  auto* to_device = find<Status (*)(uint64_t, const void*, size_t)>(library_, "cuMemcpyHtoD_v2");
  auto* to_host = find<Status (*)(void*, uint64_t, size_t)>(library_, "cuMemcpyDtoH_v2");
  auto* launch = find<Status (*)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, Handle, void**, void**)>(library_, "cuLaunchKernel");
  auto* synchronize = find<Status (*)()>(library_, "cuCtxSynchronize");
  if (load == nullptr || launch == nullptr || synchronize == nullptr)
    return Error("the CUDA driver lacks an entry point");

  constexpr size_t kBytes = kThreads * sizeof(uint64_t);
  Handle module = nullptr, kernel = nullptr;
  if (Status s = load(&module, ptx.c_str()); s != 0) return failed("cuModuleLoadData", s);
  if (Status s = function(&kernel, module, "run"); s != 0) return failed("cuModuleGetFunction", s);
  uint64_t cells[4] = {};
  for (uint64_t& cell : cells)
    if (Status s = allocate(&cell, kBytes); s != 0) return failed("cuMemAlloc", s);
  const std::vector<uint64_t> zeros(kThreads);
  to_device(cells[0], zeros.data(), kBytes);
  for (size_t k = 0; k < operands.size(); ++k) to_device(cells[k + 1], operands[k].data(), kBytes);
  void* arguments[4] = {&cells[0], &cells[1], &cells[2], &cells[3]};
  std::vector<uint64_t> out(kThreads);
  Status status = launch(kernel, kThreads / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr);
  if (status == 0) status = synchronize();
  if (status == 0) status = to_host(out.data(), cells[0], kBytes);
  for (uint64_t cell : cells) free_memory(cell);
  unload(module);
  if (status != 0) return failed("the launch", status);
  return out;
}

}  // namespace weft::differential
