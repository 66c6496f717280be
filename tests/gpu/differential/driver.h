// SPDX-License-Identifier: Apache-2.0

// The few driver calls that the suite needs, from whichever libcuda.so.1 the loader finds: a GPU's
// or the emulator's. No CUDA headers: the suite builds everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::differential {

class Driver {
 public:
  static Result<Driver> create();

  std::string device() const { return device_; }
  int driver_version() const { return version_; }

  // Loads the text, runs `run` with kThreads threads in blocks of 128 and returns the output cells.
  // The error is what the driver said: a refused program or a failed launch.
  Result<std::vector<uint64_t>> run(const std::string& ptx,
                                    const std::vector<std::vector<uint64_t>>& operands);

 private:
  Driver() = default;
  void* library_ = nullptr;
  std::string device_;
  int version_ = 0;
};

}  // namespace weft::differential
