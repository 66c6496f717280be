// SPDX-License-Identifier: Apache-2.0

// Reads the container defensively: it comes from the judged program, so every offset and size is
// checked before use and nothing is read outside the given bytes.
#include "ptxbench/fatbin/fat_binary.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include <fmt/format.h>

namespace weft::fatbin {
namespace {

// An entry's header, little endian:
//    0 u16 kind (1 PTX, 2 machine code)   2 u16 version   4 u32 header bytes   8 u64 payload bytes
//   16 u32 packed bytes (0: plain)       28 u32 architecture                  40 u64 flags
//   56 u64 unpacked bytes
constexpr size_t kEntryHeader = 64;
constexpr uint64_t kFlagLz4 = 0x2000;
constexpr uint64_t kFlagZstd = 0x8000;
constexpr uint64_t kFlagExact = 0x100000;   // the `a` of compute_90a
constexpr uint64_t kFlagFamily = 0x200000;  // the `f` of compute_100f
// PTX of real programs stays below a few megabytes; a larger claim is damage or an attack.
constexpr uint64_t kMostUnpacked = uint64_t{256} << 20;

template <typename T>
T load(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Error damaged(const std::string& what) {
  return Error("fat binary is damaged: " + what, "compile the program again");
}

std::string list_targets(std::span<const FatEntry> entries) {
  std::string list;
  for (const FatEntry& entry : entries) {
    if (entry.kind == FatEntry::Kind::Other) continue;
    if (!list.empty()) list += ", ";
    list += entry.kind == FatEntry::Kind::Ptx ? "PTX for " : "machine code for ";
    list += entry.target();
  }
  return list.empty() ? "nothing" : list;
}

}  // namespace

std::string FatEntry::target() const {
  const char* suffix = reach == Reach::Exact ? "a" : reach == Reach::Family ? "f" : "";
  return fmt::format("{}{}{}", kind == Kind::Ptx ? "compute_" : "sm_", architecture, suffix);
}

Result<uint64_t> fat_binary_size(std::span<const std::byte> bytes) {
  if (bytes.size() < kFatBinaryHeader) return damaged("it ends inside its header");
  const auto magic = load<uint32_t>(bytes, 0);
  if (magic != kFatBinaryMagic)
    return Error(fmt::format("not a fat binary: it begins with {:#010x}, not {:#010x}", magic,
                             kFatBinaryMagic));
  const auto header = load<uint16_t>(bytes, 6);
  const auto size = load<uint64_t>(bytes, 8);
  if (header < kFatBinaryHeader) return damaged(fmt::format("header of {} bytes", header));
  if (size > UINT64_MAX - header) return damaged(fmt::format("content of {} bytes", size));
  return size + header;
}

Result<std::vector<FatEntry>> read_fat_binary(std::span<const std::byte> bytes) {
  const uint64_t size = TRY(fat_binary_size(bytes));
  if (size > bytes.size())
    return damaged(fmt::format("it ends after {} of {} bytes", bytes.size(), size));
  std::span<const std::byte> rest = bytes.first(size).subspan(load<uint16_t>(bytes, 6));

  std::vector<FatEntry> entries;
  while (!rest.empty()) {
    const size_t number = entries.size() + 1;
    if (rest.size() < kEntryHeader)
      return damaged(fmt::format("it ends inside the header of entry {}", number));
    const auto header = load<uint32_t>(rest, 4);
    const auto padded = load<uint64_t>(rest, 8);
    if (header < kEntryHeader || header > rest.size() || padded > rest.size() - header)
      return damaged(fmt::format("entry {} reaches past the end", number));

    FatEntry entry;
    const auto kind = load<uint16_t>(rest, 0);
    const auto packed = load<uint32_t>(rest, 16);
    const auto flags = load<uint64_t>(rest, 40);
    entry.kind = kind == 1   ? FatEntry::Kind::Ptx
                 : kind == 2 ? FatEntry::Kind::MachineCode
                             : FatEntry::Kind::Other;
    entry.architecture = load<uint32_t>(rest, 28);
    entry.reach = (flags & kFlagExact)    ? FatEntry::Reach::Exact
                  : (flags & kFlagFamily) ? FatEntry::Reach::Family
                                          : FatEntry::Reach::Onward;
    entry.packing = (flags & kFlagZstd)  ? FatEntry::Packing::Zstd
                    : (flags & kFlagLz4) ? FatEntry::Packing::Lz4
                                         : FatEntry::Packing::Plain;
    entry.unpacked_size = load<uint64_t>(rest, 56);
    entry.payload = rest.subspan(header, padded);
    if (entry.packing != FatEntry::Packing::Plain) {
      if (packed > padded)
        return damaged(
            fmt::format("entry {} holds {} bytes but claims {}", number, padded, packed));
      entry.payload = entry.payload.first(packed);
    }
    entries.push_back(entry);
    rest = rest.subspan(header + padded);
  }
  return entries;
}

Result<std::string> read_ptx(const FatEntry& entry) {
  INVARIANT(entry.kind == FatEntry::Kind::Ptx);
  std::string text;
  if (entry.packing == FatEntry::Packing::Plain) {
    text.assign(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
  } else {
    if (entry.unpacked_size > kMostUnpacked)
      return damaged(fmt::format("PTX of {} bytes", entry.unpacked_size));
    text.resize(entry.unpacked_size);
    if (entry.packing == FatEntry::Packing::Zstd) {
      const size_t got =
          ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
      if (ZSTD_isError(got)) return damaged(std::string("zstd: ") + ZSTD_getErrorName(got));
      text.resize(got);
    } else {
      if (entry.payload.size() > LZ4_MAX_INPUT_SIZE) return damaged("LZ4 block too large");
      const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload.data()),
                                          text.data(), static_cast<int>(entry.payload.size()),
                                          static_cast<int>(text.size()));
      if (got < 0) return damaged("LZ4 block does not unpack");
      text.resize(static_cast<size_t>(got));
    }
  }
  // The text ends with a NUL and is padded with more of them.
  if (const size_t end = text.find('\0'); end != std::string::npos) text.resize(end);
  return text;
}

bool runs_on(const FatEntry& entry, int major, int minor) {
  const auto device = static_cast<uint32_t>(major * 10 + minor);
  switch (entry.reach) {
    case FatEntry::Reach::Exact:
      return entry.architecture == device;
    case FatEntry::Reach::Family:
      return entry.architecture / 10 == device / 10 && entry.architecture <= device;
    case FatEntry::Reach::Onward:
      return entry.architecture <= device;
  }
  return false;
}

Result<const FatEntry*> choose_ptx(std::span<const FatEntry> entries, int major, int minor) {
  // Onward < Family < Exact in what they may use of the device.
  const auto rank = [](const FatEntry& entry) {
    const int reach = entry.reach == FatEntry::Reach::Exact    ? 2
                      : entry.reach == FatEntry::Reach::Family ? 1
                                                               : 0;
    return entry.architecture * 4 + static_cast<uint32_t>(reach);
  };
  const FatEntry* best = nullptr;
  bool any_ptx = false;
  for (const FatEntry& entry : entries) {
    if (entry.kind != FatEntry::Kind::Ptx) continue;
    any_ptx = true;
    if (runs_on(entry, major, minor) && (best == nullptr || rank(entry) > rank(*best)))
      best = &entry;
  }
  if (best != nullptr) return best;
  const std::string target = fmt::format("compute_{}{}{}", major, minor, major >= 9 ? "a" : "");
  return Error(fmt::format("{} for a device of compute capability {}.{}: the program holds {}",
                           any_ptx ? "no PTX" : "only machine code, no PTX,", major, minor,
                           list_targets(entries)),
               fmt::format("the emulator runs PTX: compile with nvcc -cudart shared -gencode "
                           "arch={0},code={0}",
                           target));
}

}  // namespace weft::fatbin
