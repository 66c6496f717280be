// SPDX-License-Identifier: Apache-2.0

// Everything a candidate needs for its host function, in one include. See function.h for the ABI.
#pragma once

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
