// SPDX-License-Identifier: Apache-2.0

// Modules, libraries, kernels and the linker of the driver API.
#include "ptxbench/cudart/module.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "ptxbench/cudart/driver/edge.h"
#include "ptxbench/cudart/entry_point.h"
#include "ptxbench/cudart/launch.h"
#include "ptxbench/cudart/live.h"
#include "ptxbench/fatbin/link.h"

using namespace weft::cudart;

namespace {

// CUjit_option.
enum : int { kInfoLog = 3, kInfoLogSize, kErrorLog, kErrorLogSize };

// The log buffers that a program passes among its options.
struct Logs {
  char* error = nullptr;
  size_t error_size = 0;
  void** error_size_slot = nullptr;
  void** info_size_slot = nullptr;
  char* info = nullptr;

  Logs(unsigned count, const int* options, void** values) {
    if (options == nullptr || values == nullptr) return;
    for (unsigned i = 0; i < count; ++i) switch (options[i]) {
        case kInfoLog:
          info = static_cast<char*>(values[i]);
          break;
        case kInfoLogSize:
          info_size_slot = &values[i];
          break;
        case kErrorLog:
          error = static_cast<char*>(values[i]);
          break;
        case kErrorLogSize:
          error_size = reinterpret_cast<size_t>(values[i]);
          error_size_slot = &values[i];
          break;
        default:
          break;
      }
  }

  void write(const std::string& text) const {
    size_t written = 0;
    if (error != nullptr && error_size != 0) {
      written = std::min(text.size(), error_size - 1);
      std::memcpy(error, text.data(), written);
      error[written] = '\0';
    }
    // The driver answers the bytes it wrote in place of the sizes.
    if (error_size_slot != nullptr) *error_size_slot = reinterpret_cast<void*>(written);
    if (info_size_slot != nullptr) {
      if (info != nullptr && *info_size_slot != nullptr) *info = '\0';
      *info_size_slot = nullptr;
    }
  }
};

template <typename Load>
Status load_with_logs(unsigned count, const int* options, void** values, Load load) {
  const Logs logs(count, options, values);
  std::string log;
  const Status status = load(logs.error != nullptr ? &log : nullptr);
  logs.write(log);
  return status;
}

Module* module(void* handle) {
  return static_cast<Module*>(handle);
}
Kernel** kernel(void** handle) {
  return reinterpret_cast<Kernel**>(handle);
}

struct Linker : Live<Linker> {
  std::vector<std::string> units;
  std::string linked;
  std::unique_ptr<Logs> logs;
};

Status add_unit(void* state, const void* data, std::string* log) {
  Linker* linker = Linker::find(state);
  if (linker == nullptr || data == nullptr) return Status::InvalidValue;
  ImageText text = read_image(data, model().compute_major, model().compute_minor);
  if (text.status != Status::Success) {
    if (log != nullptr)
      *log += format(text.why);
    else
      complain_once(format(text.why));
    return text.status;
  }
  for (std::string& unit : text.units) linker->units.push_back(std::move(unit));
  return Status::Success;
}

}  // namespace

extern "C" {

int cuModuleLoadData(void** handle, const void* image) {
  return context_answer(
      [&] { return load_module(image, reinterpret_cast<Module**>(handle), nullptr); });
}
int cuModuleLoadDataEx(void** handle, const void* image, unsigned count, int* options,
                       void** values) {
  return context_answer([&] {
    return load_with_logs(count, options, values, [&](std::string* log) {
      return load_module(image, reinterpret_cast<Module**>(handle), log);
    });
  });
}
int cuModuleLoadFatBinary(void** handle, const void* image) {
  return cuModuleLoadData(handle, image);
}
int cuModuleLoad(void** handle, const char* path) {
  return context_answer(
      [&] { return load_module_file(path, reinterpret_cast<Module**>(handle), nullptr); });
}
int cuModuleUnload(void* handle) {
  return context_answer([&] { return unload_module(module(handle)); });
}
int cuModuleGetLoadingMode(int* mode) {
  return device_answer([&] {
    if (mode == nullptr) return Status::InvalidValue;
    *mode = 2;  // lazy
    return Status::Success;
  });
}
int cuModuleGetFunction(void** function, void* handle, const char* name) {
  return context_answer([&] { return find_in_module(module(handle), name, kernel(function)); });
}
int cuModuleGetFunctionCount(unsigned* count, void* handle) {
  return context_answer([&] { return list_module_kernels(module(handle), nullptr, 0, count); });
}
int cuModuleEnumerateFunctions(void** functions, unsigned capacity, void* handle) {
  return context_answer(
      [&] { return list_module_kernels(module(handle), functions, capacity, nullptr); });
}
int cuModuleGetGlobal_v2(uint64_t* address, size_t* size, void* handle, const char* name) {
  return context_answer(
      [&] { return find_symbol(module(handle), name, reinterpret_cast<void**>(address), size); });
}

int cuLibraryLoadData(void** handle, const void* code, int* options, void** values, unsigned count,
                      int*, void**, unsigned) {
  return device_answer([&] {
    return load_with_logs(count, options, values, [&](std::string* log) {
      return load_module(code, reinterpret_cast<Module**>(handle), log);
    });
  });
}
int cuLibraryLoadFromFile(void** handle, const char* path, int* options, void** values,
                          unsigned count, int*, void**, unsigned) {
  return device_answer([&] {
    return load_with_logs(count, options, values, [&](std::string* log) {
      return load_module_file(path, reinterpret_cast<Module**>(handle), log);
    });
  });
}
int cuLibraryUnload(void* handle) {
  return device_answer([&] { return unload_module(module(handle)); });
}
int cuLibraryGetKernel(void** function, void* handle, const char* name) {
  return device_answer([&] { return find_in_module(module(handle), name, kernel(function)); });
}
int cuLibraryGetKernelCount(unsigned* count, void* handle) {
  return device_answer([&] { return list_module_kernels(module(handle), nullptr, 0, count); });
}
int cuLibraryEnumerateKernels(void** kernels, unsigned capacity, void* handle) {
  return device_answer(
      [&] { return list_module_kernels(module(handle), kernels, capacity, nullptr); });
}
int cuLibraryGetModule(void** found, void* handle) {
  return context_answer([&] {
    if (found == nullptr) return Status::InvalidValue;
    if (Module::find(handle) == nullptr) return Status::InvalidResourceHandle;
    *found = handle;
    return Status::Success;
  });
}
int cuLibraryGetGlobal(uint64_t* address, size_t* size, void* handle, const char* name) {
  return device_answer(
      [&] { return find_symbol(module(handle), name, reinterpret_cast<void**>(address), size); });
}
int cuLibraryGetManaged(uint64_t* address, size_t* size, void* handle, const char* name) {
  return cuLibraryGetGlobal(address, size, handle, name);
}

// A CUkernel and its CUfunction are one handle here.
int cuKernelGetFunction(void** function, void* handle) {
  return context_answer([&] {
    return function != nullptr ? find_kernel(handle, kernel(function)) : Status::InvalidValue;
  });
}
int cuKernelGetLibrary(void** library, void* handle) {
  return device_answer([&] {
    Kernel* found = nullptr;
    if (library == nullptr) return Status::InvalidValue;
    EXPECT_SUCCESS(find_kernel(handle, &found));
    *library = found->module;
    return Status::Success;
  });
}
int cuFuncGetModule(void** found, void* handle) {
  return cuKernelGetLibrary(found, handle);
}
int cuKernelGetName(const char** name, void* handle) {
  return device_answer([&] { return get_kernel_name(name, handle); });
}
int cuFuncGetName(const char** name, void* handle) {
  return cuKernelGetName(name, handle);
}
int cuKernelGetParamInfo(void* handle, size_t index, size_t* offset, size_t* size) {
  return device_answer([&] { return get_parameter_info(handle, index, offset, size); });
}
int cuFuncGetParamInfo(void* handle, size_t index, size_t* offset, size_t* size) {
  return cuKernelGetParamInfo(handle, index, offset, size);
}
int cuFuncGetAttribute(int* value, int attribute, void* handle) {
  return context_answer([&] { return get_driver_attribute(value, attribute, handle); });
}
int cuFuncSetAttribute(void* handle, int attribute, int value) {
  return context_answer([&] { return set_attribute(handle, attribute, value); });
}
int cuKernelGetAttribute(int* value, int attribute, void* handle, int) {
  return device_answer([&] { return get_driver_attribute(value, attribute, handle); });
}
int cuKernelSetAttribute(int attribute, int value, void* handle, int) {
  return device_answer([&] { return set_attribute(handle, attribute, value); });
}
int cuFuncSetCacheConfig(void* handle, int) {
  return context_answer([&] {
    Kernel* found = nullptr;
    return find_kernel(handle, &found);
  });
}
int cuKernelSetCacheConfig(void* handle, int config, int) {
  return cuFuncSetCacheConfig(handle, config);
}
int cuFuncSetSharedMemConfig(void* handle, int config) {
  return cuFuncSetCacheConfig(handle, config);
}
int cuFuncLoad(void* handle) {
  return cuFuncSetCacheConfig(handle, 0);
}
int cuFuncIsLoaded(int* state, void* handle) {
  return context_answer([&] {
    Kernel* found = nullptr;
    if (state == nullptr) return Status::InvalidValue;
    EXPECT_SUCCESS(find_kernel(handle, &found));
    *state = 1;
    return Status::Success;
  });
}

int cuLinkCreate_v2(unsigned count, int* options, void** values, void** state) {
  return context_answer([&] {
    if (state == nullptr) return Status::InvalidValue;
    auto* linker = new Linker;
    linker->logs = std::make_unique<Logs>(count, options, values);
    *state = linker;
    return Status::Success;
  });
}
int cuLinkAddData_v2(void* state, int, void* data, size_t size, const char*, unsigned, int*,
                     void**) {
  return context_answer([&] {
    if (data == nullptr || size == 0) return Status::InvalidValue;
    Linker* linker = Linker::find(state);
    if (linker == nullptr) return Status::InvalidValue;
    // PTX text need not end with a NUL when its size is given.
    const std::string copy(static_cast<const char*>(data), size);
    std::string log;
    const bool wanted = linker->logs->error != nullptr;
    const Status status = add_unit(state, copy.c_str(), wanted ? &log : nullptr);
    if (status != Status::Success) linker->logs->write(log);
    return status;
  });
}
int cuLinkAddFile_v2(void* state, int type, const char* path, unsigned count, int* options,
                     void** values) {
  std::ifstream file(path != nullptr ? path : "", std::ios::binary);
  if (!file) return driver_code(Status::FileNotFound);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return cuLinkAddData_v2(state, type, bytes.data(), bytes.size(), path, count, options, values);
}
int cuLinkComplete(void* state, void** image, size_t* size) {
  return context_answer([&] {
    Linker* linker = Linker::find(state);
    if (linker == nullptr || image == nullptr) return Status::InvalidValue;
    auto linked = weft::fatbin::link_ptx(linker->units);
    if (!linked.ok()) {
      linker->logs->write(format(linked.error()));
      if (linker->logs->error == nullptr) complain_once(format(linked.error()));
      return Status::InvalidPtx;
    }
    // The "cubin" is PTX, which every loading function takes as well.
    linker->linked = std::move(*linked);
    *image = linker->linked.data();
    if (size != nullptr) *size = linker->linked.size() + 1;
    return Status::Success;
  });
}
int cuLinkDestroy(void* state) {
  return context_answer([&] {
    Linker* linker = Linker::find(state);
    if (linker == nullptr) return Status::InvalidValue;
    delete linker;
    return Status::Success;
  });
}

int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t, int* result) {
  if (name == nullptr || function == nullptr) return driver_code(Status::InvalidValue);
  const EntryPoint entry = find_driver_function(name, version);
  *function = entry.function;
  if (result != nullptr) *result = static_cast<int>(entry.result);
  return entry.function != nullptr ? 0 : driver_code(Status::SymbolNotFound);
}
int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // extern "C"
