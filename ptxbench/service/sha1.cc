// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/sha1.h"

#include <array>
#include <bit>
#include <cstdint>

#include <fmt/format.h>

namespace weft::service {
namespace {

using Digest = std::array<uint32_t, 5>;

void compress(Digest& state, const unsigned char* block) {
  std::array<uint32_t, 80> words;
  for (size_t i = 0; i < 16; ++i) {
    words[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
               uint32_t{block[4 * i + 2]} << 8 | uint32_t{block[4 * i + 3]};
  }
  for (size_t i = 16; i < 80; ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (size_t i = 0; i < 80; ++i) {
    uint32_t mixed, constant;
    if (i < 20) {
      mixed = (b & c) | (~b & d);
      constant = 0x5a827999;
    } else if (i < 40) {
      mixed = b ^ c ^ d;
      constant = 0x6ed9eba1;
    } else if (i < 60) {
      mixed = (b & c) | (b & d) | (c & d);
      constant = 0x8f1bbcdc;
    } else {
      mixed = b ^ c ^ d;
      constant = 0xca62c1d6;
    }
    const uint32_t next = std::rotl(a, 5) + mixed + e + constant + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string sha1(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xff);
  Digest state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  for (size_t i = 0; i < padded.size(); i += 64)
    compress(state, reinterpret_cast<const unsigned char*>(padded.data() + i));
  return fmt::format("{:08x}{:08x}{:08x}{:08x}{:08x}", state[0], state[1], state[2], state[3],
                     state[4]);
}

}  // namespace weft::service
