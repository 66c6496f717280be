// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/check/shared_shadow.h"

#include <algorithm>
#include <bit>

namespace weft::emulator {

namespace {

// The bytes of word `w` that lie in [offset, end).
ByteMask bytes_of(uint32_t w, uint32_t offset, uint32_t end) {
  ByteMask mask = kWholeWord;
  if (4 * w < offset) mask &= kWholeWord << (offset - 4 * w);
  if (end < 4 * w + 4) mask &= kWholeWord >> (4 * w + 4 - end);
  return mask;
}

}  // namespace

void SharedShadow::reset(uint32_t bytes, uint32_t initialised, uint32_t warps) {
  words_.assign((bytes + 3) / 4, Word{});
  warps_ = warps;
  for (uint32_t w = 0; w < initialised / 4; ++w) words_[w].initialised = kWholeWord;
}

void SharedShadow::renew(uint32_t offset, uint32_t bytes) {
  for (uint32_t w = offset / 4; 4 * w < offset + bytes; ++w) {
    const auto initialised =
        static_cast<uint8_t>(words_[w].initialised | bytes_of(w, offset, offset + bytes));
    words_[w] = Word{.writer = {}, .readers = 0, .initialised = initialised, .strong = false};
  }
}

void SharedShadow::forget_readers() {
  for (Word& word : words_) word.readers = 0;
}

std::optional<Conflict> SharedShadow::touch(uint32_t offset, uint32_t bytes, ShadowAccess& access,
                                            const Checks& checks, const Tickets& tickets,
                                            ReaderSets& sets) {
  const uint32_t end = offset + bytes;
  const bool tracks = checks.race || checks.proxy;
  for (uint32_t w = offset / 4; 4 * w < end; ++w) {
    Word& word = words_[w];
    const ByteMask mask = bytes_of(w, offset, end);
    const auto conflict = [&](Conflict::Kind kind, Epoch earlier, ByteMask concerned) {
      return Conflict{kind, earlier, 4 * w + static_cast<uint32_t>(std::countr_zero(concerned))};
    };
    if ((word.initialised & mask) != 0) access.found_written = true;
    if (checks.init && access.reads && !access.async)
      if (const ByteMask missing = mask & ~word.initialised; missing != 0)
        return conflict(Conflict::Kind::Uninitialised, {}, missing);
    if (access.writes) word.initialised = static_cast<uint8_t>(word.initialised | mask);
    if (!tracks) continue;

    if (const Epoch writer = word.writer; (writer.bytes() & mask) != 0 &&
                                          writer != access.fine_writer &&
                                          !(access.strong && word.strong)) {
      if (checks.race && !tickets.ordered(writer, access.known->seen))
        return conflict(access.reads && !access.writes ? Conflict::Kind::ReadAfterWrite
                                                       : Conflict::Kind::WriteAfterWrite,
                        writer, writer.bytes() & mask);
      if (checks.proxy && access.async && access.reads && writer.agent() <= warps_ &&
          !tickets.ordered(writer, access.known->fenced))
        return conflict(Conflict::Kind::MissingFence, writer, writer.bytes() & mask);
      access.fine_writer = writer;
    }
    if (access.writes) {
      if (checks.race && word.readers != 0 && word.readers != access.fine_readers) {
        for (const Epoch reader : sets.readers(word.readers))
          if ((reader.bytes() & mask) != 0 && !tickets.ordered(reader, access.known->seen))
            return conflict(Conflict::Kind::WriteAfterRead, reader, reader.bytes() & mask);
        // Sets that differ in bytes only are looked at again where only part of a word is written.
        if (mask == kWholeWord) access.fine_readers = word.readers;
      }
      // Of two writers of different bytes only the later one stays.
      const ByteMask kept = word.writer.same_moment(access.by) ? word.writer.bytes() : 0;
      word.writer = access.by.with(mask | kept);
      word.readers = 0;
      word.strong = access.strong;
    } else if (checks.race && !access.strong) {
      if (mask != kWholeWord) {
        word.readers = sets.with(word.readers, access.by.with(mask), access.known->seen, tickets);
        continue;
      }
      if (word.readers != access.readers_before) {
        access.readers_before = word.readers;
        access.readers_after =
            sets.with(word.readers, access.by.with(mask), access.known->seen, tickets);
      }
      word.readers = access.readers_after;
    }
  }
  return std::nullopt;
}

}  // namespace weft::emulator
