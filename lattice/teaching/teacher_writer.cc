// SPDX-License-Identifier: Apache-2.0

#include "lattice/teaching/teacher_writer.h"

namespace weft::lattice {

TeacherWriter::TeacherWriter(TeacherStore& store) : store_(store), thread_([this] { work(); }) {}

TeacherWriter::~TeacherWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<Done> TeacherWriter::put(TaughtBatch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failed_ || waiting_.size() < kWaiting; });
  if (failed_) return *failed_;
  waiting_.push_back(std::move(batch));
  changed_.notify_all();
  return Done{};
}

Result<Done> TeacherWriter::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failed_ || (waiting_.empty() && !writing_); });
  if (failed_) return *failed_;
  lock.unlock();
  return store_.sync();
}

Result<Done> TeacherWriter::write(const TaughtBatch& batch) {
  TRY(store_.look_up(batch.pairs, batch.seen_at));
  return store_.write({.pairs = batch.pairs,
                       .computed_at = batch.computed_at,
                       .embeddings = batch.embeddings,
                       .logits = batch.logits});
}

void TeacherWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const TaughtBatch batch = std::move(waiting_.front());
    waiting_.pop_front();
    writing_ = true;
    lock.unlock();
    changed_.notify_all();
    const Result<Done> written = write(batch);
    lock.lock();
    writing_ = false;
    if (!written.ok()) failed_ = written.error();
    changed_.notify_all();
    if (failed_) return;
  }
}

}  // namespace weft::lattice
