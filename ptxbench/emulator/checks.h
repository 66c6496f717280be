// SPDX-License-Identifier: Apache-2.0

// Rules whose breach results need not show. Each is looked for on request; bounds, alignment and
// the use of barriers always are.
#pragma once

#include <string_view>

#include "base/result.h"

namespace weft::emulator {

struct Checks {
  bool wgmma = false;  // registers of a wgmma in flight are touched before the wait that covers it
  bool race = false;   // accesses to shared memory that nothing orders
  bool init = false;   // shared memory is read that nobody has written
  bool proxy = false;  // the async proxy reads what a thread wrote, without fence.proxy.async

  // Something has to be known about every access to shared memory.
  bool shared() const { return race || init || proxy; }
};

// "race,init" or "all". "memory" and "barrier" may be named and are on in any case.
Result<Checks> parse_checks(std::string_view names);

}  // namespace weft::emulator
