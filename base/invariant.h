// SPDX-License-Identifier: Apache-2.0

// INVARIANT: states what must be true whatever the input is. When it is false the bug is ours, so
// the program prints where and stops; bad input and faults of judged programs never come here.
#pragma once

namespace weft {

[[noreturn]] void invariant_failed(const char* condition, const char* file, int line);

}  // namespace weft

#define INVARIANT(condition) \
  ((condition) ? static_cast<void>(0) : ::weft::invariant_failed(#condition, __FILE__, __LINE__))
