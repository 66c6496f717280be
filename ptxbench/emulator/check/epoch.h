// SPDX-License-Identifier: Apache-2.0

// One access to a word of shared memory: who made it, when by its own clock, at which instruction,
// and to which of the four bytes.
//
//   63 ........ 36   35 .... 24   23 ...... 4   3 .. 0
//   time             agent        site          bytes
#pragma once

#include <cstdint>

namespace weft::emulator {

using ByteMask = uint32_t;  // of the four bytes of a word
inline constexpr ByteMask kWholeWord = 0xf;

// Agents are numbered from 1: warps first, by rank and index, then queues and mbarriers.
inline constexpr uint32_t kNoAgent = 0;  // whoever has no number comes before everything
// Of asynchronous work whose completion is still open: the time is the number of its ticket
// (hazard_ticket.h).
inline constexpr uint32_t kTicketAgent = 0xfff;

inline constexpr uint32_t kMaxTime = (1u << 28) - 1, kMaxSite = (1u << 20) - 1;

class Epoch {
 public:
  constexpr Epoch() = default;
  constexpr Epoch(uint32_t agent, uint32_t time, uint32_t site, ByteMask bytes = 0)
      : bits_(uint64_t{time} << 36 | uint64_t{agent} << 24 | uint64_t{site} << 4 | bytes) {}

  constexpr uint32_t time() const { return static_cast<uint32_t>(bits_ >> 36); }
  constexpr uint32_t agent() const { return static_cast<uint32_t>(bits_ >> 24) & 0xfff; }
  constexpr uint32_t site() const { return static_cast<uint32_t>(bits_ >> 4) & kMaxSite; }
  constexpr ByteMask bytes() const { return static_cast<ByteMask>(bits_) & kWholeWord; }
  constexpr uint64_t bits() const { return bits_; }
  constexpr bool none() const { return bits_ == 0; }
  constexpr bool same_moment(Epoch other) const { return (bits_ ^ other.bits_) >> 24 == 0; }
  constexpr Epoch with(ByteMask bytes) const {
    Epoch e = *this;
    e.bits_ |= bytes;
    return e;
  }
  constexpr bool operator==(const Epoch&) const = default;

 private:
  uint64_t bits_ = 0;
};

}  // namespace weft::emulator
