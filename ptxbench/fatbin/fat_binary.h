// SPDX-License-Identifier: Apache-2.0

// The fat binary: the container in which nvcc embeds PTX and machine code, one entry a target.
// The format is not documented; the layout here is what nvcc 13.0's own output shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::fatbin {

inline constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;
// Bytes of the container's own header.
inline constexpr size_t kFatBinaryHeader = 16;

struct FatEntry {
  enum class Kind : uint8_t { Ptx, MachineCode, Other };
  // compute_90, compute_90a (this architecture only), compute_100f (this family only).
  enum class Reach : uint8_t { Onward, Exact, Family };
  enum class Packing : uint8_t { Plain, Lz4, Zstd };

  Kind kind = Kind::Other;
  Reach reach = Reach::Onward;
  Packing packing = Packing::Plain;
  uint32_t architecture = 0;           // 90 for compute_90
  std::span<const std::byte> payload;  // inside the container that was read
  uint64_t unpacked_size = 0;          // bytes; of packed entries

  std::string target() const;  // "compute_90a", "sm_90"
};

// Whole container size in bytes according to its header; an error when the bytes are no fat binary.
// `bytes` needs to hold the header only.
Result<uint64_t> fat_binary_size(std::span<const std::byte> bytes);

// The entries, in order. They point into `bytes`.
Result<std::vector<FatEntry>> read_fat_binary(std::span<const std::byte> bytes);

// The PTX text of an entry, unpacked, without padding.
Result<std::string> read_ptx(const FatEntry& entry);

// True when PTX of this target runs on a device of this compute capability.
bool runs_on(const FatEntry& entry, int major, int minor);

// The PTX that fits the device best: the highest architecture it can run, and of equal ones the
// most specific. The error names what is embedded and how to compile instead.
Result<const FatEntry*> choose_ptx(std::span<const FatEntry> entries, int major, int minor);

}  // namespace weft::fatbin
