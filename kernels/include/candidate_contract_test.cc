// SPDX-License-Identifier: Apache-2.0

// The candidate contract, seen from the host: functions exported by the macro are called as a host
// calls them, with packed arguments built by hand after the public ABI (numbers of the TVM-FFI
// manual, offsets of the DLPack specification), and the recorded error is read back.
#include <gtest/gtest.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

std::string raised_kind;
std::string raised_message;

}  // namespace

// What a host program exports to the candidates that it loads.
extern "C" void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) {
  raised_kind = kind;
  raised_message = message;
}
extern "C" TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t device_type, int32_t device_id) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(device_type * 100 + device_id));
}

namespace candidate {

void scale(tvm::ffi::TensorView x, double factor, tvm::ffi::TensorView y) {
  TVM_FFI_CHECK(x.numel() == y.numel(), ValueError) << x.numel() << " against " << y.numel();
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<float*>(y.data_ptr())[i] =
        static_cast<float>(factor) * static_cast<const float*>(x.data_ptr())[i];
  }
}
int64_t last_extent(const tvm::ffi::TensorView& x, int32_t back) {
  return x.size(-back);
}
void* current_stream(tvm::ffi::TensorView x) {
  return TVMFFIEnvGetStream(x.device().device_type, x.device().device_id);
}
void refuse(bool hard) {
  if (hard) throw std::runtime_error("hard");
  TVM_FFI_THROW(NotImplementedError) << "soft " << 7;
}

// Candidates export from inside their namespace as well as from outside.
TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);

}  // namespace candidate

// The symbol has C linkage, so the namespace does not show in its name.
extern "C" int __tvm_ffi_scale(void* self, const TVMFFIAny* args, int32_t num_args,
                               TVMFFIAny* result);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(last_extent, candidate::last_extent);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(current_stream, candidate::current_stream);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(refuse, candidate::refuse);

namespace {

struct FloatTensor {
  float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3};
  DLTensor tensor{data, {kDLCUDA, 3}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
};

TVMFFIAny tensor_argument(DLTensor* tensor) {
  TVMFFIAny any{};
  any.type_index = 7;
  any.v_ptr = tensor;
  return any;
}
TVMFFIAny float_argument(double value) {
  TVMFFIAny any{};
  any.type_index = 3;
  any.v_float64 = value;
  return any;
}
TVMFFIAny int_argument(int64_t value) {
  TVMFFIAny any{};
  any.type_index = 1;
  any.v_int64 = value;
  return any;
}

TEST(CandidateContract, LayoutIsThatOfThePublicAbi) {
  EXPECT_EQ(sizeof(TVMFFIAny), 16u);
  EXPECT_EQ(offsetof(TVMFFIAny, type_index), 0u);
  EXPECT_EQ(offsetof(TVMFFIAny, v_int64), 8u);
  EXPECT_EQ(sizeof(DLTensor), 48u);
  EXPECT_EQ(offsetof(DLTensor, device), 8u);
  EXPECT_EQ(offsetof(DLTensor, ndim), 16u);
  EXPECT_EQ(offsetof(DLTensor, dtype), 20u);
  EXPECT_EQ(offsetof(DLTensor, shape), 24u);
  EXPECT_EQ(offsetof(DLTensor, strides), 32u);
  EXPECT_EQ(offsetof(DLTensor, byte_offset), 40u);
  EXPECT_EQ(kTVMFFITensor, 70);
}

TEST(CandidateContract, TensorsAndScalarsReachTheFunction) {
  FloatTensor x, y;
  const TVMFFIAny args[] = {tensor_argument(&x.tensor), float_argument(0.5),
                            tensor_argument(&y.tensor)};
  TVMFFIAny result = int_argument(99);
  ASSERT_EQ(__tvm_ffi_scale(nullptr, args, 3, &result), 0);
  EXPECT_EQ(y.data[5], 3.0f);
  EXPECT_EQ(result.type_index, kTVMFFINone);
}

TEST(CandidateContract, TensorObjectsCarryTheirTensorBehindTheHeader) {
  FloatTensor x;
  struct {
    TVMFFIObject header;
    DLTensor tensor;
  } object{{1, 70, 0, {nullptr}}, x.tensor};
  TVMFFIAny args[] = {int_argument(0), int_argument(1)};
  args[0].type_index = 70;
  args[0].v_obj = &object.header;
  TVMFFIAny result{};
  ASSERT_EQ(__tvm_ffi_last_extent(nullptr, args, 2, &result), 0);
  EXPECT_EQ(result.type_index, kTVMFFIInt);
  EXPECT_EQ(result.v_int64, 3);
}

TEST(CandidateContract, AnIntMayStandForAFloatButNotTheOtherWayRound) {
  FloatTensor x, y;
  TVMFFIAny args[] = {tensor_argument(&x.tensor), int_argument(2), tensor_argument(&y.tensor)};
  TVMFFIAny result{};
  EXPECT_EQ(__tvm_ffi_scale(nullptr, args, 3, &result), 0);
  EXPECT_EQ(y.data[0], 2.0f);
  args[1] = float_argument(1.0);
  EXPECT_NE(__tvm_ffi_last_extent(nullptr, args, 2, &result), 0);
  EXPECT_EQ(raised_kind, "TypeError");
  EXPECT_NE(raised_message.find("argument 1 must be an int, not float"), std::string::npos)
      << raised_message;
}

TEST(CandidateContract, AWrongCountIsAnError) {
  FloatTensor x;
  const TVMFFIAny args[] = {tensor_argument(&x.tensor)};
  TVMFFIAny result{};
  EXPECT_NE(__tvm_ffi_scale(nullptr, args, 1, &result), 0);
  EXPECT_EQ(raised_kind, "TypeError");
  EXPECT_NE(raised_message.find("takes 3 arguments, not 1"), std::string::npos) << raised_message;
}

TEST(CandidateContract, NothingButATensorPassesForATensor) {
  TVMFFIAny args[] = {int_argument(1), int_argument(1)};
  TVMFFIAny result{};
  for (const int32_t type_index : {0, 1, 2, 3, 4, 5, 6, 8, 64, 71, -1}) {
    args[0].type_index = type_index;
    EXPECT_NE(__tvm_ffi_last_extent(nullptr, args, 2, &result), 0) << type_index;
  }
  args[0].type_index = kTVMFFIDLTensorPtr;
  args[0].v_ptr = nullptr;
  EXPECT_NE(__tvm_ffi_last_extent(nullptr, args, 2, &result), 0);
}

TEST(CandidateContract, ExceptionsEndAtTheBoundary) {
  TVMFFIAny args[] = {int_argument(0)};
  TVMFFIAny result{};
  EXPECT_NE(__tvm_ffi_refuse(nullptr, args, 1, &result), 0);
  EXPECT_EQ(raised_kind, "NotImplementedError");
  EXPECT_NE(raised_message.find("soft 7"), std::string::npos) << raised_message;
  args[0].v_int64 = 1;
  EXPECT_NE(__tvm_ffi_refuse(nullptr, args, 1, &result), 0);
  EXPECT_EQ(raised_kind, "InternalError");
  EXPECT_EQ(raised_message, "hard");
}

TEST(CandidateContract, TheStreamComesFromTheHost) {
  FloatTensor x;
  const TVMFFIAny args[] = {tensor_argument(&x.tensor)};
  TVMFFIAny result{};
  ASSERT_EQ(__tvm_ffi_current_stream(nullptr, args, 1, &result), 0);
  EXPECT_EQ(result.type_index, kTVMFFIOpaquePtr);
  EXPECT_EQ(result.v_int64, 203);
}

TEST(TensorView, StridesOfACompactTensorAreFilledIn) {
  FloatTensor x;
  const tvm::ffi::TensorView view(&x.tensor);
  EXPECT_EQ(view.stride(0), 3);
  EXPECT_EQ(view.stride(-1), 1);
  EXPECT_EQ(view.strides().size(), 2u);
  EXPECT_EQ(view.numel(), 6);
  EXPECT_TRUE(view.is_contiguous());
}

TEST(TensorView, StridesOfTheHostDecideContiguity) {
  FloatTensor x;
  int64_t strides[2] = {1, 2};
  x.tensor.strides = strides;
  EXPECT_FALSE(tvm::ffi::TensorView(&x.tensor).is_contiguous());
  // A dimension of one element has no neighbour, so its stride is free.
  x.shape[0] = 1;
  strides[0] = 77;
  strides[1] = 1;
  EXPECT_TRUE(tvm::ffi::TensorView(&x.tensor).is_contiguous());
}

TEST(TensorView, DimensionsOutsideTheTensorAreRefused) {
  FloatTensor x;
  const tvm::ffi::TensorView view(&x.tensor);
  EXPECT_EQ(view.size(-2), 2);
  EXPECT_THROW(view.size(2), tvm::ffi::Error);
  EXPECT_THROW(view.stride(-3), tvm::ffi::Error);
}

TEST(Checks, StayInTheirOwnIf) {
  bool reached = false;
  if (true)
    TVM_FFI_ICHECK_EQ(2 + 2, 4) << "never";
  else
    reached = true;
  EXPECT_FALSE(reached);
  try {
    TVM_FFI_ICHECK_LT(5, 3) << "five";
    FAIL();
  } catch (const tvm::ffi::Error& error) {
    EXPECT_NE(error.message().find("5 < 3 (5 vs. 3) five"), std::string::npos) << error.message();
  }
}

}  // namespace
