// SPDX-License-Identifier: Apache-2.0

// The CUDA runtime and driver that the library path leads to, by name: NVIDIA's on a GPU machine,
// the emulator's elsewhere. Opened at run time, so that the worker builds where no CUDA is
// installed.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace weft::judge {

struct Runtime {
  int (*set_device)(int) = nullptr;
  int (*allocate)(void**, size_t) = nullptr;
  int (*copy)(void*, const void*, size_t, int) = nullptr;
  int (*fill)(void*, int, size_t) = nullptr;
  int (*synchronize)() = nullptr;
  int (*last_error)() = nullptr;
  int (*create_stream)(void**) = nullptr;
  const char* (*error_name)(int) = nullptr;
  const char* (*error_text)(int) = nullptr;
  // The emulator's only: writes what the device is asked to do into a file, until it is called with
  // null. Absent in NVIDIA's library.
  int (*record)(const char* file) = nullptr;

  static constexpr int kHostToDevice = 1, kDeviceToHost = 2;  // cudaMemcpyKind

  static Result<Runtime> open();
  // An error that names the call, when `code` is not cudaSuccess.
  Result<Done> check(int code, const char* call) const;
};

// The part of the driver API that loads and launches PTX. Signatures and layouts are those of
// cuda.h.
struct Driver {
  int (*load_module)(void**, const void*) = nullptr;
  int (*find_function)(void**, void*, const char*) = nullptr;
  int (*set_attribute)(void*, int, int) = nullptr;
  int (*launch)(const void* config, void* function, void** arguments, void** extra) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*error_text)(int, const char**) = nullptr;

  static Result<Driver> open();
  Result<Done> check(int code, const std::string& call) const;
};

}  // namespace weft::judge
