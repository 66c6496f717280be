// SPDX-License-Identifier: Apache-2.0

// TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function): exports a C++ function of tensors and scalars as
//   extern "C" int __tvm_ffi_<name>(void*, const TVMFFIAny* args, int32_t num_args, TVMFFIAny*
//   result)
// Arguments are unpacked by type. A wrong count, a wrong type or a C++ exception becomes a nonzero
// return with the message recorded through TVMFFIErrorSetRaisedFromCStr; none of them leaves the C
// boundary in another way.
#pragma once

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tvm {
namespace ffi {
namespace details {

inline const char* type_index_name(int32_t type_index) {
  switch (type_index) {
    case kTVMFFINone:
      return "None";
    case kTVMFFIInt:
      return "int";
    case kTVMFFIBool:
      return "bool";
    case kTVMFFIFloat:
      return "float";
    case kTVMFFIOpaquePtr:
      return "opaque pointer";
    case kTVMFFIDataType:
      return "dtype";
    case kTVMFFIDevice:
      return "device";
    case kTVMFFIDLTensorPtr:
      return "DLTensor*";
    case kTVMFFITensor:
      return "tensor";
    default:
      return "an unsupported type";
  }
}

[[noreturn]] inline void refuse_argument(int32_t position, const char* wanted,
                                         const TVMFFIAny& given) {
  TVM_FFI_THROW(TypeError) << "argument " << position << " must be " << wanted << ", not "
                           << type_index_name(given.type_index) << " (type index "
                           << given.type_index << ")";
  // The statement above throws when its temporary dies, which the compiler does not see.
  throw Error("TypeError", "unreachable");
}

// The C++ value of one packed argument. Conversions are those of the public ABI: an int or a bool
// may stand for a float, and a bool for an int, never the other way round.
template <typename T>
T unpack(const TVMFFIAny& value, int32_t position) {
  if constexpr (std::is_same_v<T, TensorView>) {
    const DLTensor* tensor = nullptr;
    if (value.type_index == kTVMFFIDLTensorPtr) {
      tensor = static_cast<const DLTensor*>(value.v_ptr);
    } else if (value.type_index == kTVMFFITensor && value.v_obj != nullptr) {
      tensor = reinterpret_cast<const DLTensor*>(value.v_obj + 1);
    }
    if (tensor == nullptr) refuse_argument(position, "a tensor", value);
    return TensorView(tensor);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (value.type_index != kTVMFFIBool && value.type_index != kTVMFFIInt) {
      refuse_argument(position, "a bool", value);
    }
    return value.v_int64 != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (value.type_index != kTVMFFIInt && value.type_index != kTVMFFIBool) {
      refuse_argument(position, "an int", value);
    }
    return static_cast<T>(value.v_int64);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (value.type_index == kTVMFFIFloat) return static_cast<T>(value.v_float64);
    if (value.type_index != kTVMFFIInt && value.type_index != kTVMFFIBool) {
      refuse_argument(position, "a float", value);
    }
    return static_cast<T>(value.v_int64);
  } else if constexpr (std::is_same_v<T, DLDataType>) {
    if (value.type_index != kTVMFFIDataType) refuse_argument(position, "a dtype", value);
    return value.v_dtype;
  } else if constexpr (std::is_same_v<T, DLDevice>) {
    if (value.type_index != kTVMFFIDevice) refuse_argument(position, "a device", value);
    return value.v_device;
  } else {
    static_assert(std::is_pointer_v<T>, "a candidate takes tensors, scalars and pointers");
    if (value.type_index == kTVMFFINone) return nullptr;
    if (value.type_index != kTVMFFIOpaquePtr) refuse_argument(position, "a pointer", value);
    return static_cast<T>(value.v_ptr);
  }
}

template <typename T>
TVMFFIAny pack(const T& value) {
  TVMFFIAny any{};
  if constexpr (std::is_same_v<T, bool>) {
    any.type_index = kTVMFFIBool;
    any.v_int64 = value ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    any.type_index = kTVMFFIInt;
    any.v_int64 = static_cast<int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    any.type_index = kTVMFFIFloat;
    any.v_float64 = static_cast<double>(value);
  } else {
    static_assert(std::is_pointer_v<T>, "a candidate returns nothing or a scalar");
    any.type_index = kTVMFFIOpaquePtr;
    any.v_ptr = const_cast<void*>(static_cast<const void*>(value));
  }
  return any;
}

template <typename R, typename... Args, size_t... I>
void invoke(R (*function)(Args...), const TVMFFIAny* args, TVMFFIAny* result,
            std::index_sequence<I...>) {
  (void)args;
  if constexpr (std::is_void_v<R>) {
    function(unpack<std::decay_t<Args>>(args[I], static_cast<int32_t>(I))...);
    if (result != nullptr) *result = TVMFFIAny{};
  } else {
    const std::decay_t<R> value =
        function(unpack<std::decay_t<Args>>(args[I], static_cast<int32_t>(I))...);
    if (result != nullptr) *result = pack(value);
  }
}

template <typename R, typename... Args>
int call(R (*function)(Args...), const TVMFFIAny* args, int32_t num_args,
         TVMFFIAny* result) noexcept {
  try {
    constexpr int32_t kCount = static_cast<int32_t>(sizeof...(Args));
    if (num_args != kCount) {
      TVM_FFI_THROW(TypeError) << "the function takes " << kCount << " arguments, not " << num_args;
    }
    invoke(function, args, result, std::index_sequence_for<Args...>());
    return 0;
  } catch (const Error& error) {
    TVMFFIErrorSetRaisedFromCStr(error.kind().c_str(), error.what());
  } catch (const std::exception& error) {
    TVMFFIErrorSetRaisedFromCStr("InternalError", error.what());
  } catch (...) {
    TVMFFIErrorSetRaisedFromCStr("InternalError", "an exception that is no std::exception");
  }
  return -1;
}

}  // namespace details
}  // namespace ffi
}  // namespace tvm

// A captureless lambda decays to a function pointer through the unary plus, a function stays one.
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(ExportName, Function)                                \
  extern "C" {                                                                             \
  __attribute__((visibility("default"))) int __tvm_ffi_##ExportName(void* /*self*/,        \
                                                                    const TVMFFIAny* args, \
                                                                    int32_t num_args,      \
                                                                    TVMFFIAny* result) {   \
    return ::tvm::ffi::details::call(+Function, args, num_args, result);                   \
  }                                                                                        \
  }
