// SPDX-License-Identifier: Apache-2.0

// The C side of the candidate contract, after the public TVM-FFI ABI: how one argument is packed,
// and how a candidate reports an error. Everything here is a fixed binary layout. The host program
// that loads a candidate exports the functions declared below.
#pragma once

#include <dlpack/dlpack.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum TVMFFITypeIndex : int32_t {
  kTVMFFINone = 0,
  kTVMFFIInt = 1,
  kTVMFFIBool = 2,
  kTVMFFIFloat = 3,
  kTVMFFIOpaquePtr = 4,
  kTVMFFIDataType = 5,
  kTVMFFIDevice = 6,
  kTVMFFIDLTensorPtr = 7,
  kTVMFFITensor = 70,
};

// Every heap object starts with this header; in a tensor object a DLTensor follows it.
typedef struct {
  uint64_t combined_ref_count;
  int32_t type_index;
  uint32_t padding;
  union {
    void (*deleter)(void* self, int flags);
    int64_t deleter_alignment;
  };
} TVMFFIObject;

// One packed argument or result, 16 bytes. `type_index` says which member of the union is alive.
typedef struct {
  int32_t type_index;
  uint32_t zero_padding;
  union {
    int64_t v_int64;
    double v_float64;
    void* v_ptr;
    TVMFFIObject* v_obj;
    DLDataType v_dtype;
    DLDevice v_device;
    uint64_t v_uint64;
  };
} TVMFFIAny;

typedef int (*TVMFFISafeCallType)(void* self, const TVMFFIAny* args, int32_t num_args,
                                  TVMFFIAny* result);

// Records the error of the current call. The callee then returns nonzero.
void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);

#ifdef __cplusplus
}
static_assert(sizeof(TVMFFIAny) == 16, "a packed argument is 16 bytes");
static_assert(sizeof(TVMFFIObject) == 24, "an object header is 24 bytes");
static_assert(sizeof(DLTensor) == 48, "a DLTensor is 48 bytes");
#endif
