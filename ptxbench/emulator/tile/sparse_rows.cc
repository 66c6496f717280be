// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/tile/sparse_rows.h"

#include <cstring>

namespace weft::emulator {

void spread_row(const SparseMetadata& metadata, int row, const std::byte* stored, int stored_bytes,
                std::byte* dense) {
  const int unit = metadata.unit_bytes;
  std::memset(dense, 0, static_cast<size_t>(2 * stored_bytes));
  for (int chunk = 0; chunk * 2 * unit < stored_bytes; ++chunk) {
    const uint32_t indices = metadata.indices(row, chunk);
    for (int k = 0; k < 2; ++k) {
      const int place = static_cast<int>(indices >> (2 * k) & 3);
      std::memcpy(dense + (4 * chunk + place) * unit, stored + (2 * chunk + k) * unit,
                  static_cast<size_t>(unit));
    }
  }
}

}  // namespace weft::emulator
