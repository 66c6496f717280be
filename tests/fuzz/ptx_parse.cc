// SPDX-License-Identifier: Apache-2.0

// Any bytes parse or are refused with diagnostics; what parses prints to a text that parses to the
// same. Run: build/fuzz/bin/ptx_parse_fuzz tests/fuzz/ptx_parse
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/invariant.h"
#include "ptxbench/ptx/parse.h"
#include "ptxbench/ptx/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const auto first =
      weft::ptx::parse(std::string(reinterpret_cast<const char*>(data), size), "input.ptx");
  if (!first.ok()) {
    INVARIANT(!first.error().diagnostics.empty());
    (void)weft::format(first.error());
    return 0;
  }
  const std::string printed = weft::ptx::print(**first);
  const auto second = weft::ptx::parse(printed, "printed.ptx");
  INVARIANT(second.ok());
  INVARIANT(weft::ptx::print(**second) == printed);
  return 0;
}
