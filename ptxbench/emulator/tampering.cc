// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/tampering.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace weft::emulator {
namespace {

Tampering from_environment() {
  const char* word = std::getenv("WEFT_EMULATE_TAMPER");
  const std::string_view asked = word == nullptr ? "" : word;
  return {.products = asked == "products", .copies = asked == "copies"};
}

}  // namespace

const Tampering& tampering() {
  static const Tampering instance = from_environment();
  return instance;
}

void write_nonsense(std::byte* data, size_t bytes) {
  // 0x4343 is 195 as bfloat16 and 3.6 as half; 0x43434343 is 195 as float.
  std::memset(data, 0x43, bytes);
}

}  // namespace weft::emulator
