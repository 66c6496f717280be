// SPDX-License-Identifier: Apache-2.0

// The teacher store at size, 64-wide fp16 with two logits: entries written a second, and looked up
// in batches, beside RocksDB's own MultiGet of the same values in the same run. Pairs are drawn
// evenly, or 32 items of one user at a time as a service asks. Every answer is checked.
//
//   bench_teacher_store [PAIRS] [WORKERS] [SECONDS]
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "base/mix.h"
#include "base/parallel.h"
#include "base/temporary_directory.h"
#include "lattice/distillation/rocks_store.h"
#include "lattice/distillation/teacher_entry.h"

namespace weft::lattice {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint32_t kWidth = 64, kTasks = 2;
constexpr uint64_t kItems = 32, kBatch = 1024;
constexpr int64_t kNow = 480'000LL * 3'600'000'000;

void demand(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong answer: %s\n", what);
  std::exit(1);
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Pair pair_of(uint64_t index) {
  return {mix(index / kItems), mix(index % kItems)};
}

// Exact in fp16.
float value_of(uint64_t index, uint32_t i) {
  return static_cast<float>((index * 17 + i * 5) % 1024) - 512;
}

double report(const char* what, uint64_t rows, double wall, double processor) {
  const double rate = static_cast<double>(rows) / wall;
  std::printf("%-44s %9.0f /s, %9.0f a processor second\n", what, rate,
              static_cast<double>(rows) / processor);
  std::fflush(stdout);
  return rate;
}

// Calls work(worker, round), which returns rows, until the time is over.
double repeat(const char* what, unsigned workers, double seconds,
              const std::function<uint64_t(uint64_t, uint64_t)>& work) {
  std::atomic<uint64_t> rows{0};
  const double processor = processor_seconds();
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  each_in_parallel(
      workers,
      [&](int64_t worker) {
        for (uint64_t round = 0; passed() < seconds; ++round)
          rows += work(static_cast<uint64_t>(worker), round);
      },
      workers);
  return report(what, rows, passed(), processor_seconds() - processor);
}

struct Drawn {
  std::vector<uint64_t> index;
  std::vector<Pair> pairs;
};

Drawn draw(uint64_t pairs, uint64_t seed, bool by_user) {
  Drawn drawn;
  for (uint64_t i = 0; i < kBatch; ++i) {
    const uint64_t index = by_user ? mix(seed, i / kItems) % (pairs / kItems) * kItems + i % kItems
                                   : mix(seed, i) % pairs;
    drawn.index.push_back(index);
    drawn.pairs.push_back(pair_of(index));
  }
  return drawn;
}

int bench(uint64_t pairs, unsigned workers, double seconds) {
  const auto folder = *TemporaryDirectory::create("bench-teacher-store");
  const TeacherDescription teacher{.version = "bench", .width = kWidth, .tasks = {"a", "b"}};
  const auto store = *open_rocks_store(folder.file("store"), teacher);

  // Values are made before the clock starts.
  std::vector<float> embeddings(pairs * kWidth), logits(pairs * kTasks);
  std::vector<Pair> all(pairs);
  const std::vector<int64_t> times(pairs, kNow);
  for (uint64_t index = 0; index < pairs; ++index) {
    all[index] = pair_of(index);
    for (uint32_t i = 0; i < kWidth; ++i) embeddings[index * kWidth + i] = value_of(index, i);
  }
  {
    const double processor = processor_seconds();
    const auto start = Clock::now();
    each_in_parallel(
        static_cast<int64_t>(pairs / kBatch),
        [&](int64_t batch) {
          const uint64_t from = static_cast<uint64_t>(batch) * kBatch;
          demand(store
                     ->write({std::span(all).subspan(from, kBatch),
                              std::span(times).subspan(from, kBatch),
                              std::span(embeddings).subspan(from * kWidth, kBatch * kWidth),
                              std::span(logits).subspan(from * kTasks, kBatch * kTasks)})
                     .ok(),
                 "write");
        },
        workers);
    demand(store->sync().ok(), "sync");
    report("written, then forced to disk", pairs,
           std::chrono::duration<double>(Clock::now() - start).count(),
           processor_seconds() - processor);
  }

  rocksdb::DB* opened = nullptr;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(256 << 20, 4);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  demand(rocksdb::DB::Open(options, folder.file("plain"), &opened).ok(), "plain RocksDB");
  const std::unique_ptr<rocksdb::DB> plain(opened);
  const EntryLayout layout(teacher);
  const TeacherEntries entries{all, times, embeddings, logits};
  for (uint64_t from = 0; from < pairs; from += kBatch) {
    rocksdb::WriteBatch batch;
    for (uint64_t row = from; row < std::min(pairs, from + kBatch); ++row) {
      std::array<char, 16> key{};
      std::string value;
      pack_key(all[row], key.data());
      layout.pack(entries, row, value);
      batch.Put({key.data(), key.size()}, value);
    }
    demand(plain->Write({}, &batch).ok(), "plain write");
  }

  for (const bool by_user : {false, true}) {
    const auto ours = [&](uint64_t worker, uint64_t round) {
      const Drawn drawn = draw(pairs, mix(worker, round), by_user);
      const std::vector<int64_t> moments(kBatch, kNow + 60'000'000);
      const auto answers = store->look_up(drawn.pairs, moments);
      demand(answers.ok(), "look-up");
      for (uint64_t row = 0; row < kBatch; ++row) {
        demand(answers->results[row] == LookUp::Hit, "an entry is missing");
        for (uint32_t i = 0; i < kWidth; i += 21)
          demand(answers->embeddings[row * kWidth + i] == value_of(drawn.index[row], i), "value");
      }
      return kBatch;
    };
    const auto theirs = [&](uint64_t worker, uint64_t round) {
      const Drawn drawn = draw(pairs, mix(worker, round), by_user);
      std::vector<std::array<char, 16>> bytes(kBatch);
      std::vector<rocksdb::Slice> keys(kBatch);
      std::vector<rocksdb::PinnableSlice> values(kBatch);
      std::vector<rocksdb::Status> statuses(kBatch);
      for (uint64_t row = 0; row < kBatch; ++row) {
        pack_key(drawn.pairs[row], bytes[row].data());
        keys[row] = {bytes[row].data(), 16};
      }
      plain->MultiGet({}, plain->DefaultColumnFamily(), kBatch, keys.data(), values.data(),
                      statuses.data());
      for (uint64_t row = 0; row < kBatch; ++row)
        demand(statuses[row].ok() && values[row].size() == layout.bytes(), "plain MultiGet");
      return kBatch;
    };
    const char* kind = by_user ? "32 items of a user" : "pairs at random";
    std::printf("%s\n", kind);
    for (int warm = 0; warm < 200; ++warm) theirs(9, static_cast<uint64_t>(warm));
    for (int warm = 0; warm < 200; ++warm) ours(9, static_cast<uint64_t>(warm));
    double ratio = 0;
    for (int turn = 0; turn < 3; ++turn) {
      const double peer =
          repeat("  RocksDB MultiGet, values not unpacked", workers, seconds, theirs);
      const double mine = repeat("  look-ups, unpacked to fp32", workers, seconds, ours);
      ratio = std::max(ratio, mine / peer);
    }
    std::printf("  best ratio to MultiGet %.2f\n", ratio);
  }
  return 0;
}

}  // namespace
}  // namespace weft::lattice

int main(int count, char** arguments) {
  const uint64_t pairs = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1 << 20;
  const unsigned workers = count > 2 ? static_cast<unsigned>(std::atoi(arguments[2])) : 2;
  const double seconds = count > 3 ? std::atof(arguments[3]) : 3;
  return weft::lattice::bench(pairs / 1024 * 1024, workers, seconds);
}
