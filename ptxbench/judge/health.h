// SPDX-License-Identifier: Apache-2.0

// After a candidate has failed: does the device still do what it should for somebody else?
#pragma once

#include <string>

#include "base/result.h"
#include "ptxbench/judge/session.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::judge {

struct Health {
  bool usable = false;
  std::string detail;  // what went wrong; empty when usable
};

// Runs a kernel of our own in a fresh process, as a candidate would run, and compares. `folder` is
// scratch.
Result<Health> probe_device(const Toolchain& toolchain, const EmulationSettings& emulation,
                            const std::string& folder);

}  // namespace weft::judge
