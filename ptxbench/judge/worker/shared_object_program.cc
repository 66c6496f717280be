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

// A scalar of the definition, as `float` and integer parameters of a candidate take it.
TVMFFIAny by_value(const TensorOrder& order) {
  TVMFFIAny argument{};
  if (order.code == kDLFloat) {
    argument.type_index = kTVMFFIFloat;
    argument.v_float64 = *order.scalar;
  } else {
    argument.type_index = kTVMFFIInt;
    argument.v_int64 = static_cast<int64_t>(*order.scalar);
  }
  return argument;
}

DLTensor describe(const TensorOrder& order, void* data) {
  DLTensor tensor{};
  tensor.data = data;
  tensor.device = {kDLCUDA, 0};
  tensor.ndim = static_cast<int32_t>(order.shape.size());
  tensor.dtype = {order.code, order.bits, 1};
  return tensor;
}

bool same_type(const DLDataType& type, const TensorOrder& order) {
  return type.code == order.code && type.bits == order.bits && type.lanes == 1;
}

class SharedObjectProgram final : public Program {
 public:
  SharedObjectProgram(const Orders& orders, TVMFFISafeCallType run)
      : orders_(orders.tensors), run_(run) {}

  void bind(const DeviceTensors& tensors) override {
    pointers_.clear();
    for (size_t i = 0; i < orders_.size(); ++i) pointers_.push_back(tensors.data(i));
  }

  // Descriptions are made anew for every call, at other addresses than before.
  std::optional<CallFailure> call() override {
    before_ = std::move(packed_);
    packed_ = std::make_unique<Packed>();
    const size_t count = orders_.size();
    packed_->shapes.reserve(count);
    packed_->strides.reserve(count);
    packed_->tensors.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      packed_->shapes.push_back(orders_[i].shape);
      packed_->strides.push_back(row_major_strides(orders_[i].shape));
      DLTensor tensor = describe(orders_[i], pointers_[i]);
      tensor.shape = packed_->shapes.back().data();
      tensor.strides = packed_->strides.back().data();
      packed_->tensors.push_back(tensor);
      TVMFFIAny argument{};
      argument.type_index = kTVMFFIDLTensorPtr;
      argument.v_ptr = &packed_->tensors.back();
      packed_->arguments.push_back(orders_[i].scalar ? by_value(orders_[i]) : argument);
    }
    result_ = {};
    raised_kind.clear();
    raised_message.clear();
    const int code = run_(nullptr, packed_->arguments.data(),
                          static_cast<int32_t>(packed_->arguments.size()), &result_);
    if (code == 0) return std::nullopt;
    if (raised_message.empty())
      raised_message = fmt::format("run returned {} without an error message", code);
    return CallFailure{raised_kind.empty() ? "Error" : raised_kind, raised_message};
  }

  void inspect(WorkerReport& report) const override {
    for (size_t i = 0; i < orders_.size(); ++i) {
      const TensorOrder& order = orders_[i];
      const DLTensor& tensor = packed_->tensors[i];
      if (!same_type(tensor.dtype, order)) report.retyped.push_back(order.name);
      if (tensor.ndim != static_cast<int32_t>(order.shape.size()) || tensor.data != pointers_[i] ||
          tensor.byte_offset != 0 || packed_->shapes[i] != order.shape ||
          packed_->strides[i] != row_major_strides(order.shape) ||
          tensor.shape != packed_->shapes[i].data() || tensor.strides != packed_->strides[i].data())
        report.reshaped.push_back(order.name);
    }
    inspect_result(report);
  }

 private:
  // A tensor that is returned is held against the first output; it is never taken for one.
  void inspect_result(WorkerReport& report) const {
    const DLTensor* returned = nullptr;
    if (result_.type_index == kTVMFFIDLTensorPtr)
      returned = static_cast<const DLTensor*>(result_.v_ptr);
    if (result_.type_index == kTVMFFITensor && result_.v_obj != nullptr)
      returned = reinterpret_cast<const DLTensor*>(result_.v_obj + 1);
    if (returned == nullptr) return;
    for (const TensorOrder& order : orders_) {
      if (!order.output) continue;
      if (!same_type(returned->dtype, order)) report.retyped.push_back(order.name);
      bool same = returned->ndim == static_cast<int32_t>(order.shape.size());
      for (size_t i = 0; same && i < order.shape.size(); ++i)
        same = returned->shape[i] == order.shape[i];
      if (!same) report.reshaped.push_back(order.name);
      return;
    }
  }

  std::vector<TensorOrder> orders_;
  TVMFFISafeCallType run_;
  std::vector<void*> pointers_;
  std::unique_ptr<Packed> packed_, before_;
  TVMFFIAny result_{};
};

}  // namespace

void set_current_stream(void* stream) {
  current_stream = stream;
}

Result<std::unique_ptr<Program>> load_shared_object(const Orders& orders) {
  void* handle = dlopen(orders.candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error(fmt::format("cannot load the candidate: {}", dlerror()));
  const auto run = reinterpret_cast<TVMFFISafeCallType>(dlsym(handle, "__tvm_ffi_run"));
  if (run == nullptr) return Error("the candidate does not export __tvm_ffi_run");
  return std::unique_ptr<Program>(std::make_unique<SharedObjectProgram>(orders, run));
}

}  // namespace weft::judge
