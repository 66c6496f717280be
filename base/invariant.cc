// SPDX-License-Identifier: Apache-2.0

#include "base/invariant.h"

#include <execinfo.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace weft {

void invariant_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error, please report it: INVARIANT(%s) does not hold\n",
               file, line, condition);
  void* frames[32];
  backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
  std::abort();
}

}  // namespace weft
