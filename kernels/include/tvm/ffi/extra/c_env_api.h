// SPDX-License-Identifier: Apache-2.0

// What a candidate may ask of its surroundings: the stream on which to launch.
#pragma once

#include <tvm/ffi/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* TVMFFIStreamHandle;

// The host's current stream of the device, a cudaStream_t for kDLCUDA.
TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);

#ifdef __cplusplus
}
#endif
