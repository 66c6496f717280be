// SPDX-License-Identifier: Apache-2.0

// Calls a candidate through the TVM-FFI C ABI, and exports to it what that ABI expects of its host.
#include <dlfcn.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "ptxbench/judge/worker/program.h"

namespace {

void* current_stream = nullptr;
std::string raised_kind, raised_message;

}  // namespace

extern "C" {

TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t, int32_t) {
  return current_stream;
}

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) {
  raised_kind = kind == nullptr ? "" : kind;
  raised_message = message == nullptr ? "" : message;
}

}  // extern "C"

namespace weft::judge {
namespace {

// The packed arguments with everything that they point to.
struct Packed {
  std::vector<std::vector<int64_t>> shapes, strides;
  std::vector<DLTensor> tensors;
  std::vector<TVMFFIAny> arguments;
};

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::shared_ptr<Packed> pack(const Orders& orders, const DeviceTensors& tensors) {
  auto packed = std::make_shared<Packed>();
  const size_t count = orders.tensors.size();
  packed->shapes.reserve(count);
  packed->strides.reserve(count);
  packed->tensors.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const TensorOrder& order = orders.tensors[i];
    packed->shapes.push_back(order.shape);
    packed->strides.push_back(row_major_strides(order.shape));
    DLTensor tensor{};
    tensor.data = tensors.data(i);
    tensor.device = {kDLCUDA, 0};
    tensor.ndim = static_cast<int32_t>(order.shape.size());
    tensor.dtype = {order.code, order.bits, 1};
    tensor.shape = packed->shapes.back().data();
    tensor.strides = packed->strides.back().data();
    packed->tensors.push_back(tensor);
    TVMFFIAny argument{};
    argument.type_index = kTVMFFIDLTensorPtr;
    argument.v_ptr = &packed->tensors.back();
    packed->arguments.push_back(argument);
  }
  return packed;
}

}  // namespace

void set_current_stream(void* stream) {
  current_stream = stream;
}

Result<Call> load_shared_object(const Orders& orders, const DeviceTensors& tensors) {
  void* handle = dlopen(orders.candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error(fmt::format("cannot load the candidate: {}", dlerror()));
  const auto run = reinterpret_cast<TVMFFISafeCallType>(dlsym(handle, "__tvm_ffi_run"));
  if (run == nullptr) return Error("the candidate does not export __tvm_ffi_run");
  const std::shared_ptr<Packed> packed = pack(orders, tensors);
  return Call([run, packed]() -> std::optional<CallFailure> {
    TVMFFIAny result{};
    raised_kind.clear();
    raised_message.clear();
    const int code = run(nullptr, packed->arguments.data(),
                         static_cast<int32_t>(packed->arguments.size()), &result);
    if (code == 0) return std::nullopt;
    if (raised_message.empty())
      raised_message = fmt::format("run returned {} without an error message", code);
    return CallFailure{raised_kind.empty() ? "Error" : raised_kind, raised_message};
  });
}

}  // namespace weft::judge
