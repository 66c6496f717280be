// SPDX-License-Identifier: Apache-2.0

// What a teacher knows of (user, item) pairs, kept for a student: the teacher's backbone embedding
// and its logit of each task, with the moment at which they were computed. The student reads it in
// training and in serving by the same call.
//
// A look-up has a moment of its own, the event's. It never gives an entry that was computed later,
// nor one older than the lifetime, nor anything for an event that the teacher may have learned
// from. A store belongs to one teacher: another version, width or list of tasks is another store.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace weft::lattice {

enum class EmbeddingFormat : uint8_t { Fp16, Int8 };  // int8 has one scale a vector

struct TeacherDescription {
  std::string version;
  uint32_t width = 0;  // of the embedding
  std::vector<std::string> tasks;
  EmbeddingFormat format = EmbeddingFormat::Fp16;
  // What the numbers of a pair are: "user_id, item_id of schema 1f3a..."; see pair_columns.h.
  std::string pairs;
  // The newest data that the teacher has learned from; microseconds. Earlier events find nothing.
  int64_t trained_until = 0;
  bool operator==(const TeacherDescription&) const = default;
};

struct StoreLimits {
  double lifetime_seconds = 6 * 3600;
  // How long entries are kept for events that are looked up late; 0: the lifetime.
  double retention_seconds = 0;
  // Entries are dropped a bucket at a time; 0: a sixth of the lifetime. A pair has one entry in a
  // bucket, the newest: a look-up between two entries of one bucket misses.
  double bucket_seconds = 0;
  uint64_t most_bytes = uint64_t{8} << 30;  // beyond it the oldest buckets go
};

struct Pair {
  uint64_t user = 0, item = 0;
};

// Row i of `embeddings` [pairs, width] and `logits` [pairs, tasks] belongs to pairs[i].
struct TeacherEntries {
  std::span<const Pair> pairs;
  std::span<const int64_t> computed_at;  // microseconds
  std::span<const float> embeddings, logits;
};

enum class LookUp : uint8_t {
  Hit,
  Absent,
  Expired,       // the newest entry before the event is older than the lifetime
  NotYet,        // there are only entries that were computed after the event
  TeacherAhead,  // the teacher has learned from data later than the event
  Away,          // the store did not answer
};
constexpr size_t kLookUps = 6;
const char* word_of(LookUp result);

// The same shapes as TeacherEntries; zeros where there is no hit.
struct TeacherAnswers {
  std::vector<LookUp> results;
  std::vector<int64_t> computed_at;
  std::vector<float> embeddings, logits;
};

// Since the store was opened.
struct StoreUse {
  uint64_t written = 0;
  uint64_t too_old = 0;  // handed in, but older than what is kept
  std::array<uint64_t, kLookUps> looked_up{};
  static constexpr size_t kAges = 12;
  std::array<uint64_t, kAges> ages{};  // of hits, by twelfths of the lifetime
};

// The hit rate (null before the first look-up), its parts and the ages.
Json to_json(const StoreUse& use, double lifetime_seconds);
Json to_json(const TeacherDescription& description);

class TeacherStore {
 public:
  virtual ~TeacherStore() = default;

  virtual const TeacherDescription& description() const = 0;
  virtual const StoreLimits& limits() const = 0;
  // All of a batch or nothing of it. Once it returns, the entries survive the death of this
  // process; those of a machine after sync().
  virtual Result<Done> write(const TeacherEntries& entries) = 0;
  virtual Result<Done> sync() = 0;
  // `as_of` is the event's moment, one a pair.
  virtual Result<TeacherAnswers> look_up(std::span<const Pair> pairs,
                                         std::span<const int64_t> as_of) = 0;
  // Drops what no event after `now` can find. Returns how many buckets went.
  virtual Result<uint64_t> expire(int64_t now) = 0;
  virtual StoreUse use() const = 0;
  // What is in it, for people: buckets, bytes.
  virtual Result<Json> contents() = 0;
};

}  // namespace weft::lattice
