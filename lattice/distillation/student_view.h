// SPDX-License-Identifier: Apache-2.0

// What a student sees of its teacher: the one code for training and serving. A batch of rows, each
// with its event's moment, becomes three columns more (Batch::teacher, teacher_logit, teacher_hit)
// by one look-up. What the store may not give for that moment is a miss, and a miss is zeros.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/distillation/pair_columns.h"

namespace weft::lattice {

struct StudentViewOptions {
  std::string user = "user_id", item = "item_id";
  double clip = 8;  // embeddings are cut to [-clip, clip]
  // The teacher that the student was trained with; empty or 0: whichever the store has.
  std::string version;
  uint32_t width = 0;
  // For sweeps: entries older than this are misses (0: the store's own lifetime), and so is this
  // share of the hits, by a hash of pair and moment.
  double lifetime_seconds = 0;
  double dropped_share = 0;
};

// Rows by what became of them.
struct StudentUse {
  uint64_t rows = 0, without_pair = 0, hits = 0;
  uint64_t cut = 0;  // hits of the store that the options of a sweep took away
  std::array<uint64_t, kLookUps> looked_up{};
  std::array<uint64_t, StoreUse::kAges> ages{};  // of `hits`, by twelfths of the lifetime
};
Json to_json(const StudentUse& use, double lifetime_seconds);

// The place of a task among the teacher's; an error when the teacher does not have it.
Result<size_t> task_of(const TeacherDescription& teacher, const std::string& name);

class StudentView {
 public:
  // A store of another teacher, width, pairs or schema than the student's is an error.
  static Result<StudentView> create(std::shared_ptr<TeacherStore> store, const ShardIndex& schema,
                                    const StudentViewOptions& options);

  const TeacherDescription& teacher() const { return store_->description(); }
  // The batch needs times. Fills its three columns.
  Result<Done> attach(Batch& batch);
  const StudentUse& use() const { return use_; }
  double lifetime_seconds() const;

 private:
  StudentView(std::shared_ptr<TeacherStore> store, PairColumns pairs, StudentViewOptions options)
      : store_(std::move(store)), pairs_(std::move(pairs)), options_(std::move(options)) {}
  bool kept(const Pair& pair, int64_t as_of, int64_t computed_at) const;

  std::shared_ptr<TeacherStore> store_;
  PairColumns pairs_;
  StudentViewOptions options_;
  StudentUse use_;
};

}  // namespace weft::lattice
