// SPDX-License-Identifier: Apache-2.0

// SHA-256 (FIPS 180-4). Names kernels and artifacts by their content.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

class Sha256 {
 public:
  void update(std::string_view bytes);
  // The digest of all bytes so far, in lower-case hexadecimal. The object is used up.
  std::string finish();

 private:
  void compress(const unsigned char* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  uint64_t length_ = 0;  // bytes so far; the last length_ % 64 wait in `pending_`
};

std::string sha256(std::string_view bytes);

}  // namespace weft
