// SPDX-License-Identifier: Apache-2.0

// texture_lookups record FILE         looks up many places in many textures and writes the results
// texture_lookups compare GPU OURS    compares two such files, suite by suite
// texture_lookups digest FILE         one line for each suite: a digest of its results
// texture_lookups check DIGESTS       compares the device at hand with digests of another (for CI)
//
// The same program runs on a GPU and on the emulator. Filtered results may differ by the bound of
// their suite; the hardware's arithmetic between weights of 1/256 is not documented. Everything
// else agrees bit for bit.
#include <cstdio>
#include <cstring>

#include "tests/gpu/textures/records.cuh"

int main(int count, char** arguments) {
  using namespace textures;
  if (count == 3 && std::strcmp(arguments[1], "record") == 0) return record(arguments[2]);
  if (count == 4 && std::strcmp(arguments[1], "compare") == 0)
    return compare(arguments[2], arguments[3]);
  if (count == 3 && std::strcmp(arguments[1], "digest") == 0) return digest(arguments[2]);
  if (count == 3 && std::strcmp(arguments[1], "check") == 0) return check(arguments[2]);
  std::fprintf(
      stderr,
      "usage: texture_lookups record FILE | compare GPU OURS | digest FILE | check DIGESTS\n");
  return 2;
}
