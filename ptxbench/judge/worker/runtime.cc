// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/worker/runtime.h"

#include <fmt/format.h>

#include "base/vendor_library.h"

namespace weft::judge {

Result<Runtime> Runtime::open() {
  const VendorLibrary library =
      TRY(VendorLibrary::open({"libcudart.so.13"}, VendorLibrary::Symbols::Global));
  Runtime runtime;
  TRY(library.find("cudaSetDevice", runtime.set_device));
  TRY(library.find("cudaMalloc", runtime.allocate));
  TRY(library.find("cudaMemcpy", runtime.copy));
  TRY(library.find("cudaMemset", runtime.fill));
  TRY(library.find("cudaDeviceSynchronize", runtime.synchronize));
  TRY(library.find("cudaGetLastError", runtime.last_error));
  TRY(library.find("cudaStreamCreate", runtime.create_stream));
  TRY(library.find("cudaGetErrorName", runtime.error_name));
  TRY(library.find("cudaGetErrorString", runtime.error_text));
  runtime.record = library.find_optional<int(const char*)>("weft_emulate_record");
  return runtime;
}

Result<Done> Runtime::check(int code, const char* call) const {
  if (code == 0) return Done{};
  return Error(fmt::format("{}: {} ({})", call, error_text(code), error_name(code)));
}

Result<Driver> Driver::open() {
  const VendorLibrary library =
      TRY(VendorLibrary::open({"libcuda.so.1"}, VendorLibrary::Symbols::Global));
  Driver driver;
  int (*initialize)(unsigned) = nullptr;
  TRY(library.find("cuInit", initialize));
  TRY(library.find("cuModuleLoadData", driver.load_module));
  TRY(library.find("cuModuleGetFunction", driver.find_function));
  TRY(library.find("cuFuncSetAttribute", driver.set_attribute));
  TRY(library.find("cuLaunchKernelEx", driver.launch));
  TRY(library.find("cuGetErrorName", driver.error_name));
  TRY(library.find("cuGetErrorString", driver.error_text));
  TRY(driver.check(initialize(0), "cuInit"));
  return driver;
}

Result<Done> Driver::check(int code, const std::string& call) const {
  if (code == 0) return Done{};
  const char* name = nullptr;
  const char* text = nullptr;
  error_name(code, &name);
  error_text(code, &text);
  return Error(fmt::format("{}: {} ({})", call, text == nullptr ? "unknown error" : text,
                           name == nullptr ? "?" : name));
}

}  // namespace weft::judge
