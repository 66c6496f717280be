// SPDX-License-Identifier: Apache-2.0

// What every program here uses: each checks itself and would pass on the vendor's library too.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
      std::exit(1);                                                          \
    }                                                                        \
  } while (false)

// The call returns this error.
#define EXPECT(expected, call)                                                             \
  do {                                                                                     \
    const auto expected_code = (expected);                                                 \
    const auto answered = (call);                                                          \
    if (answered != expected_code) {                                                       \
      std::printf("%s:%d: %s answered %d instead of %d\n", __FILE__, __LINE__, #call,      \
                  static_cast<int>(answered), static_cast<int>(expected_code));            \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)

#define OK(call) EXPECT(static_cast<decltype(call)>(0), call)

inline int passed() {
  std::puts("PASS");
  return 0;
}
