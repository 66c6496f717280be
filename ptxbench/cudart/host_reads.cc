// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/cudart/host_reads.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/process.h"

namespace weft::cudart {
namespace {

// More reads than this share one digest: a program that copies word by word would fill the report.
constexpr size_t kMostReads = 4096;
constexpr uint64_t kMostParts = 64, kLeastPart = 64;

// FNV-1a over words of eight bytes; it tells runs apart, it keeps no secret.
class Digest {
 public:
  void add(const std::byte* bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
      uint64_t word;
      std::memcpy(&word, bytes, 8);
      mix(word);
    }
    for (; count != 0; ++bytes, --count) mix(static_cast<uint64_t>(*bytes));
  }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  void mix(uint64_t word) {
    state_ = (state_ ^ word) * 0x100000001b3ull;
    state_ ^= state_ >> 29;
  }
  uint64_t state_ = 0xcbf29ce484222325ull;
};

struct Log {
  std::mutex mutex;
  bool active = false;
  uint64_t launches = 0;
  Json reads = Json::array();
  uint64_t more = 0;  // beyond kMostReads
  Digest rest;
};

Log& log() {
  static Log& instance = []() -> Log& {
    auto* made = new Log;
    const char* wanted = std::getenv("WEFT_EMULATE_HOST_READS");
    made->active = wanted != nullptr && *wanted != '\0';
    return *made;
  }();
  return instance;
}

void keep(Log& state, const char* what, const std::byte* bytes, uint64_t count) {
  if (state.reads.size() == kMostReads) {
    ++state.more;
    state.rest.add(bytes, count);
    return;
  }
  const uint64_t part = std::max(kLeastPart, (count + kMostParts - 1) / kMostParts);
  Json digests = Json::array();
  for (uint64_t at = 0; at < count; at += part) {
    Digest digest;
    digest.add(bytes + at, std::min(part, count - at));
    digests.push_back(digest.text());
  }
  state.reads.push_back({{"what", what},
                         {"bytes", count},
                         {"part_bytes", part},
                         {"launches", state.launches},
                         {"digests", std::move(digests)}});
}

std::optional<AllocationKind> kind_at(const void* pointer) {
  const auto allocation = machine().memory().find(reinterpret_cast<uint64_t>(pointer));
  if (!allocation) return std::nullopt;
  return allocation->kind;
}

bool is_host_kind(std::optional<AllocationKind> kind) {
  return !kind || *kind == AllocationKind::Pinned || *kind == AllocationKind::Registered;
}

}  // namespace

void see_copy(const RowRange& target, const RowRange& source, const RowCount& count) {
  Log& state = log();
  if (!state.active || !is_host_kind(kind_at(target.first)) || is_host_kind(kind_at(source.first)))
    return;
  const auto* first = static_cast<const std::byte*>(target.first);
  std::vector<std::byte> packed;
  const bool rows = count.rows * count.slices > 1;
  for (size_t z = 0; rows && z < count.slices; ++z)
    for (size_t y = 0; y < count.rows; ++y) {
      const std::byte* row = first + z * target.slice + y * target.pitch;
      packed.insert(packed.end(), row, row + count.width);
    }
  const std::lock_guard lock(state.mutex);
  keep(state, "copy", rows ? packed.data() : first, rows ? packed.size() : count.width);
}

void see_shared_memory() {
  Log& state = log();
  if (!state.active) return;
  const std::lock_guard lock(state.mutex);
  ++state.launches;
  for (const uint64_t address : owned_addresses()) {
    const auto allocation = machine().memory().find(address);
    if (!allocation) continue;
    const bool managed = allocation->kind == AllocationKind::Managed;
    if (managed || allocation->kind == AllocationKind::Pinned)
      keep(state, managed ? "managed" : "pinned", reinterpret_cast<const std::byte*>(address),
           allocation->size);
  }
}

Json host_reads() {
  Log& state = log();
  if (!state.active) return nullptr;
  const std::lock_guard lock(state.mutex);
  Json reads = state.reads;
  if (state.more != 0)
    reads.push_back({{"what", fmt::format("{} more", state.more)},
                     {"bytes", 0},
                     {"part_bytes", 0},
                     {"launches", state.launches},
                     {"digests", {state.rest.text()}}});
  return reads;
}

}  // namespace weft::cudart
