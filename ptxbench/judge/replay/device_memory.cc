// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/replay/device_memory.h"

#include <sys/mman.h>

#include <cstring>

#include <fmt/format.h>

namespace weft::judge {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHighest = uint64_t{1} << 47;
// Fresh memory is undefined: what a program reads before it wrote should not look like zeros. Very
// large memory is left alone, since touching it costs more than the kernel.
constexpr uint64_t kMostFilled = uint64_t{256} << 20;
constexpr int kUndefined = 0xff;

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [start, end] : mapped_) munmap(reinterpret_cast<void*>(start), end - start);
}

Result<Done> DeviceMemory::allocate(uint64_t address, uint64_t bytes) {
  if (address >= kHighest || bytes >= kHighest - address || bytes > table_.capacity())
    return Error(fmt::format("no device memory: {} bytes at {:#x}", bytes, address));
  uint64_t at = address / kPage * kPage;
  const uint64_t end = (address + bytes + kPage - 1) / kPage * kPage;
  while (at < end) {
    const auto after = mapped_.upper_bound(at);
    if (after != mapped_.begin() && std::prev(after)->second > at) {
      at = std::prev(after)->second;
      continue;
    }
    const uint64_t stop = after == mapped_.end() ? end : std::min(end, after->first);
    void* wish = reinterpret_cast<void*>(at);
    void* got = mmap(wish, stop - at, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != wish) {
      if (got != MAP_FAILED) munmap(got, stop - at);
      return Error(fmt::format("this process cannot have memory at {:#x}", at));
    }
    mapped_[at] = stop;
    at = stop;
  }
  if (bytes <= kMostFilled) std::memset(reinterpret_cast<void*>(address), kUndefined, bytes);
  table_.adopt(address, bytes, emulator::Allocation::Kind::Device);
  return Done{};
}

bool DeviceMemory::holds(uint64_t address, uint64_t bytes) const {
  const auto allocation = table_.find(address);
  return allocation && bytes <= allocation->address + allocation->size - address;
}

}  // namespace weft::judge
