// SPDX-License-Identifier: Apache-2.0

// One entry of a teacher store as bytes, the same in every store:
//
//   int64 computed_at | uint32 tag of the teacher | float logits[tasks] | payload
//   payload: fp16[width], or float scale and int8[width]
//
// Little-endian. The tag and the length tell an entry of another teacher from one of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "lattice/distillation/teacher_store.h"

namespace weft::lattice {

class EntryLayout {
 public:
  explicit EntryLayout(const TeacherDescription& description);

  size_t bytes() const { return bytes_; }
  // Numbers that are not finite or do not fit the format are errors.
  Result<Done> check(const TeacherEntries& entries) const;
  // Appends entry `row`.
  void pack(const TeacherEntries& entries, size_t row, std::string& to) const;
  // False when the bytes are no entry of this teacher.
  bool owns(const char* entry, size_t size) const;
  static int64_t computed_at(const char* entry);
  void unpack(const char* entry, float* embedding, float* logits) const;

 private:
  uint32_t width_, tasks_, tag_;
  EmbeddingFormat format_;
  size_t bytes_;
};

// 16 bytes that sort by user, then item.
void pack_key(const Pair& pair, char* to);

// Settled limits: defaults filled in, nonsense refused.
Result<StoreLimits> settled(StoreLimits limits);
Result<Done> check(const TeacherDescription& description);
// Of each pair's size, every pair Absent. An error unless there is one moment a pair.
Result<TeacherAnswers> unanswered(const TeacherDescription& description,
                                  std::span<const Pair> pairs, std::span<const int64_t> as_of);
// An error that says what differs when a store made for `there` is opened for `wanted`.
Result<Done> same_teacher(const TeacherDescription& there, const TeacherDescription& wanted,
                          const std::string& where);

// The description and the limits as a store keeps them.
std::string to_record(const TeacherDescription& description, const StoreLimits& limits);
struct StoreRecord {
  TeacherDescription description;
  StoreLimits limits;
};
Result<StoreRecord> parse_record(const std::string& text, const std::string& where);

}  // namespace weft::lattice
