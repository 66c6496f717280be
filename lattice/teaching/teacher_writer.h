// SPDX-License-Identifier: Apache-2.0

// A thread that writes a teacher's answers into its store while the next ones are computed. Batches
// are written in their order; each is looked up first, as of its rows' moments, which is what a
// student beside the teacher would have found.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "lattice/distillation/teacher_store.h"

namespace weft::lattice {

struct TaughtBatch {
  std::vector<Pair> pairs;
  std::vector<int64_t> seen_at, computed_at;  // microseconds
  std::vector<float> embeddings, logits;      // [pairs, width], [pairs, tasks]
};

class TeacherWriter {
 public:
  explicit TeacherWriter(TeacherStore& store);
  ~TeacherWriter();  // drops what is not written yet
  TeacherWriter(const TeacherWriter&) = delete;
  TeacherWriter& operator=(const TeacherWriter&) = delete;

  // Waits while some are waiting already. An error is that of an earlier batch.
  Result<Done> put(TaughtBatch batch);
  // Everything is written, and on disk.
  Result<Done> drain();

 private:
  static constexpr size_t kWaiting = 4;
  void work();
  Result<Done> write(const TaughtBatch& batch);

  TeacherStore& store_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TaughtBatch> waiting_;
  bool writing_ = false, stopping_ = false;
  std::optional<Error> failed_;
  std::thread thread_;
};

}  // namespace weft::lattice
