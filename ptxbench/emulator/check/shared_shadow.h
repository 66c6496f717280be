// SPDX-License-Identifier: Apache-2.0

// What is known of every word of one block's shared memory: who wrote it last, who has read it
// since, and which of its bytes anybody has written. An access is compared with that and leaves its
// own trace (FastTrack's manner: Flanagan and Freund, PLDI 2009).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ptxbench/emulator/check/reader_sets.h"
#include "ptxbench/emulator/machine.h"

namespace weft::emulator {

// One access by one agent, perhaps to many ranges. The last fields save looking twice at words with
// the same history.
struct ShadowAccess {
  Epoch by;  // without bytes
  const Knowledge* known = nullptr;
  bool reads = false, writes = false;
  // Atomics, and volatile, relaxed, acquire and release accesses: they do not race with each other.
  bool strong = false;
  bool async = false;  // by the async proxy

  bool found_written = false;  // a byte of the ranges has been written before
  Epoch fine_writer;
  uint32_t fine_readers = 0;
  uint32_t readers_before = ~0u, readers_after = 0;
};

struct Conflict {
  enum class Kind : uint8_t {
    ReadAfterWrite,
    WriteAfterRead,
    WriteAfterWrite,
    MissingFence,
    Uninitialised
  };
  Kind kind = Kind::ReadAfterWrite;
  Epoch earlier;        // none when uninitialised
  uint32_t offset = 0;  // of the first byte concerned
};

class SharedShadow {
 public:
  // Nothing is written but the first `initialised` bytes. Agents from 1 to `warps` use the generic
  // proxy.
  void reset(uint32_t bytes, uint32_t initialised, uint32_t warps);
  // Bytes [offset, offset + bytes) lie in the memory.
  std::optional<Conflict> touch(uint32_t offset, uint32_t bytes, ShadowAccess& access,
                                const Checks& checks, const Tickets& tickets, ReaderSets& sets);
  // The range has a new, ordered history, and its bytes are written.
  void renew(uint32_t offset, uint32_t bytes);
  void forget_readers();

 private:
  struct Word {
    Epoch writer;
    uint32_t readers = 0;     // set
    uint8_t initialised = 0;  // ByteMask
    bool strong = false;      // the last write was
  };
  std::vector<Word> words_;
  uint32_t warps_ = 0;
};

}  // namespace weft::emulator
