// SPDX-License-Identifier: Apache-2.0

// The judge's end of a pipe that a sandboxed process opens by its name, and waiting for what comes
// through it or for the end of that process, whichever is first.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace weft::judge {

// Open for both directions: neither end waits for the other to open it, and no end ever sees a
// hang-up that a candidate caused.
Result<Descriptor> make_pipe(const std::string& path);

enum class Waited : uint8_t { More, Ended, Neither };

// Appends what has come through `pipe` to `buffer`. Ended: nothing is left in it, and `ended`,
// which is readable once the process is gone, is so.
Result<Waited> wait_for_more(const Descriptor& pipe, const Descriptor& ended, int milliseconds,
                             std::string& buffer);

}  // namespace weft::judge
