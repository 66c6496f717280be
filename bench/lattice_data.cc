// SPDX-License-Identifier: Apache-2.0

// The data half of lattice at size: how many impressions a second are made, labelled and measured,
// how many ids a second go into sketches, how many rows a second the reader gives back, and how
// much memory that takes. Each part checks its answer first.
//
//   bench_lattice_data world|zip|sketch|reader [ROWS] [WORKERS]
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.h"
#include "base/mix.h"
#include "base/table/database.h"
#include "base/temporary_directory.h"
#include "lattice/consolidation/partition.h"
#include "lattice/consolidation/sketch.h"
#include "lattice/consolidation/zip.h"
#include "lattice/data/reader.h"
#include "lattice/ingest/shard_file.h"
#include "lattice/world/world.h"

namespace weft::lattice {
namespace {

using Clock = std::chrono::steady_clock;

struct Size {
  uint64_t rows;
  unsigned workers;
};

rusage usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

double peak_gigabytes() {
  return static_cast<double>(usage_now().ru_maxrss) * 1024 / 1e9;
}

// Of all threads: what a step costs when others take the cores.
double processor_seconds() {
  const rusage usage = usage_now();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Stopwatch {
  Clock::time_point start = Clock::now();
  double processor_start = processor_seconds();
  double wall = 0, processor = 0;
  void stop() {
    wall = std::chrono::duration<double>(Clock::now() - start).count();
    processor = processor_seconds() - processor_start;
  }
};

void demand(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "wrong answer: %s\n", what.c_str());
  std::exit(1);
}

template <typename T>
T need(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", format(result.error()).c_str());
    std::exit(1);
  }
  return *std::move(result);
}

void say(const std::string& what, uint64_t rows, const Stopwatch& watch) {
  std::printf("%-34s %11llu rows %8.2f s %12.0f rows/s, processor %8.2f s, peak %.2f GB\n",
              what.c_str(), static_cast<unsigned long long>(rows), watch.wall,
              static_cast<double>(rows) / watch.wall, watch.processor, peak_gigabytes());
  std::fflush(stdout);
}

// In a process of its own, so that the memory of making inputs does not count.
template <typename Work>
void apart(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

void bench_world(const TemporaryDirectory& folder, Size size) {
  WorldConfiguration world = need(world_preset("ads-small"));
  world.impressions = size.rows;
  RunFolder run = need(
      RunFolder::open(folder.file("world"), {.verb = "world", .configuration = to_json(world)}));
  Stopwatch watch;
  need(write_world(world, run, {.workers = size.workers}));
  watch.stop();
  table::Database database = need(table::Database::open());
  const auto found =
      need(database.counts(fmt::format("SELECT count(*), count(DISTINCT impression_id) FROM "
                                       "read_parquet('{}/impressions/*.parquet')",
                                       run.path())));
  demand(static_cast<uint64_t>(found[0]) == size.rows && found[1] == found[0], "impressions");
  say("world, ads-small", size.rows, watch);
}

// A log with one click for every tenth impression within a minute, and one purchase for every
// fiftieth after up to eight days, some beyond the longest window.
void write_log(const std::string& folder, Size size) {
  table::Database database =
      need(table::Database::open({.threads = size.workers, .memory_bytes = 2'000'000'000}));
  for (const char* part : {"/impressions", "/feedback"})
    std::filesystem::create_directories(folder + part);
  constexpr uint64_t kPart = 5'000'000;
  for (uint64_t from = 0; from < size.rows; from += kPart) {
    const uint64_t to = std::min(size.rows, from + kPart);
    // Times spread over 30 days.
    const std::string shown = fmt::format(
        "SELECT (i + 1)::UBIGINT AS impression_id, hash(i * 3 + 1) % 2000000 AS user_id, "
        "hash(i * 3 + 2) % 500000 AS item_id, ['feed', 'search', 'stories'][1 + (i % 3)::INT] AS "
        "domain, make_timestamp(1735689600000000 + (i::DOUBLE / {} * 2592000000000)::BIGINT) AS "
        "event_time FROM range({}, {}) t(i)",
        size.rows, from, to);
    need(
        database.execute(fmt::format("COPY ({}) TO '{}/impressions/{:05}.parquet' (FORMAT parquet)",
                                     shown, folder, from / kPart)));
    const auto reports = [&](const char* objective, int every, const char* delay, int offset) {
      return fmt::format(
          "SELECT (impression_id * 4 + {})::UBIGINT AS event_id, impression_id, '{}' AS objective, "
          "event_time + to_microseconds({}) AS event_time, "
          "event_time + to_microseconds({} + 1000000) AS arrival_time, NULL::UBIGINT AS refund_of "
          "FROM ({}) WHERE impression_id % {} = 0",
          offset, objective, delay, delay, shown, every);
    };
    need(database.execute(
        fmt::format("COPY ({} UNION ALL {}) TO '{}/feedback/{:05}.parquet' (FORMAT parquet)",
                    reports("click", 10, "(hash(impression_id) % 60000000)::BIGINT", 1),
                    reports("purchase", 50, "(hash(impression_id + 7) % 691200000000)::BIGINT", 2),
                    folder, from / kPart)));
  }
}

void bench_zip(const TemporaryDirectory& folder, Size size) {
  apart([&] { write_log(folder.path(), size); });
  apart([&] {
    ZipConfiguration zip_configuration{.base = folder.path(),
                                       .objectives = {{"click", 600}, {"purchase", 0}}};
    zip_configuration.shares = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    RunFolder run = need(RunFolder::open(
        folder.file("zip"), {.verb = "zip", .configuration = to_json(zip_configuration)}));
    Stopwatch watch;
    const Json summary = need(zip(zip_configuration, run, {.workers = size.workers}));
    watch.stop();
    say("zip, 3 windows", size.rows, watch);
    apart([&] {
      table::Database database = need(table::Database::open({.memory_bytes = 4'000'000'000}));
      // Two sums over hashes: a row that is missing or there twice changes both.
      const auto found = need(database.counts(fmt::format(
          "SELECT count(*), (sum(hash(impression_id)) = (SELECT sum(hash((i + 1)::UBIGINT)) FROM "
          "range({1}) t(i)) AND sum(impression_id) = {1}::HUGEINT * ({1} + 1) // 2)::INT, "
          "sum(click)::BIGINT, sum((click <> (impression_id % 10 = 0)::INT)::INT)::BIGINT, "
          "sum((purchase <> (impression_id % 50 = 0 AND hash(impression_id + 7) % 691200000000 <= "
          "[5400000000, 86400000000, 604800000000][\"window\" + 1])::INT)::INT)::BIGINT FROM "
          "read_parquet('{0}/*/*.parquet')",
          run.path(), size.rows)));
      demand(static_cast<uint64_t>(found[0]) == size.rows && found[1] == 1, "each impression once");
      demand(found[2] > 0 && found[3] == 0, "clicks");
      demand(found[4] == 0, "purchases by window");
    });
  });
  apart([&] {
    PartitionConfiguration partition_configuration;
    partition_configuration.base = folder.path();
    partition_configuration.objectives = {"click", "purchase"};
    RunFolder run = need(
        RunFolder::open(folder.file("partition"),
                        {.verb = "partition", .configuration = to_json(partition_configuration)}));
    Stopwatch watch;
    const Json report = need(partition(partition_configuration, run, {.workers = size.workers}));
    watch.stop();
    for (const Json& domain : report["domains"]) {
      // Of 2 million users, rows / 3 draws hit this many; five standard errors.
      const double draws = domain["impressions"].get<double>();
      const double expected = 2e6 * (1 - std::exp(-draws / 2e6));
      demand(std::abs(domain["users"].get<double>() / expected - 1) < 5 / std::sqrt(2046.0),
             "distinct users");
    }
    say("partition of the same log", size.rows, watch);
  });
}

void bench_sketch(Size size) {
  Sketch sketch;
  Stopwatch watch;
  // Each id about twice, as logs have them.
  for (uint64_t i = 0; i < size.rows; ++i) sketch.add(mix(1, i % (size.rows / 2)));
  watch.stop();
  const double expected = static_cast<double>(size.rows / 2);
  demand(std::abs(sketch.distinct() / expected - 1) < 5 / std::sqrt(2046.0), "distinct ids");
  say("sketch of ids in memory, one thread", size.rows, watch);
}

// The table of speeds in the specification: 24 categorical columns, 26 dense ones, a sequence of 50
// events of two columns, 4 domains, 2 labels, 3 windows.
void write_shards(const std::string& folder, uint64_t rows) {
  constexpr uint64_t kShard = 65'536, kTables = 24, kDense = 26, kLabels = 2, kEvents = 50;
  Json shards = Json::array();
  for (uint64_t from = 0; from < rows; from += kShard) {
    const uint64_t n = std::min(kShard, rows - from);
    ShardRows shard;
    shard.rows = n;
    shard.categorical.resize(kTables);
    shard.sequence.resize(2);
    for (uint64_t r = 0; r < n; ++r) {
      const uint64_t id = from + r;
      for (uint64_t t = 0; t < kTables; ++t)
        shard.categorical[t].push_back(static_cast<int32_t>(mix(id, t) % 100'000));
      for (uint64_t d = 0; d < kDense; ++d) shard.dense.push_back(static_cast<float>(id + d));
      for (uint64_t l = 0; l < kLabels; ++l) shard.label.push_back(static_cast<float>(id >> l & 1));
      for (uint64_t e = 0; e < kEvents; ++e) {
        for (auto& column : shard.sequence)
          column.push_back(static_cast<int32_t>(mix(id, 100 + e) % 100'000));
        shard.sequence_age.push_back(static_cast<float>(e));
      }
      shard.sequence_offsets.push_back(static_cast<int64_t>(shard.sequence_age.size()));
      shard.domain.push_back(static_cast<int32_t>(id % 4));
      shard.window.push_back(static_cast<uint8_t>(id % 3));
      shard.id.push_back(id);
    }
    shard.dense_present.assign(n * kDense, 1);
    shard.label_known.assign(n * kLabels, 1);
    const std::string name = fmt::format("shard-{:05}.safetensors", from / kShard);
    need(write_shard(folder + "/" + name, shard));
    shards.push_back(
        {{"file", name}, {"rows", n}, {"fingerprint", need(fingerprint(folder + "/" + name))}});
  }
  Json categorical = Json::array(), dense = Json::array();
  for (uint64_t t = 0; t < kTables; ++t)
    categorical.push_back({{"name", fmt::format("c{}", t)}, {"table_rows", 100'000}});
  for (uint64_t d = 0; d < kDense; ++d) dense.push_back({{"name", fmt::format("d{}", d)}});
  Json labels = {{{"name", "a"}, {"windowed", true}}, {{"name", "b"}, {"windowed", true}}};
  Json sequence = {{{"name", "s"}, {"vocabulary_of", "c0"}},
                   {{"name", "t"}, {"vocabulary_of", "c1"}}};
  need(write_json(folder + "/index.json",
                  {{"format", 1},
                   {"schema", "bench"},
                   {"categorical", categorical},
                   {"dense", dense},
                   {"labels", labels},
                   {"domains", {"p", "q", "r", "s"}},
                   {"windows", {5400, 86400, 604800}},
                   {"sequence", sequence},
                   {"sequence_length", kEvents},
                   {"row_columns", {"id"}},
                   {"splits", {{"train", {{"rows", rows}, {"shards", shards}}}}}}));
}

void bench_reader(const TemporaryDirectory& folder, Size size) {
  apart([&] { write_shards(folder.path(), size.rows); });
  const ShardSet set = need(ShardSet::open(folder.path(), "train"));
  for (const unsigned workers : {1u, size.workers}) {
    BatchStream stream(set, {.batch_rows = 4096, .workers = workers});
    Stopwatch watch;
    Batch batch;
    uint64_t rows = 0, ids = 0;
    while (stream.next(batch)) {
      rows += batch.rows;
      for (uint64_t r = 0; r < batch.rows; r += 97) {
        const uint64_t id = batch.id[r];
        demand(
            batch.categorical[5 * batch.rows + r] == static_cast<int32_t>(mix(id, 5) % 100'000) &&
                batch.dense[r * 26] == static_cast<float>(id) &&
                batch.sequence[static_cast<size_t>(batch.sequence_offsets[r]) + 7] ==
                    static_cast<int32_t>(mix(id, 107) % 100'000),
            "a row of a batch");
      }
      for (const uint64_t id : batch.id) ids += id;
    }
    watch.stop();
    demand(rows == size.rows && ids == size.rows * (size.rows - 1) / 2, "each row once");
    say(fmt::format("reader, shuffled, {} workers", workers), size.rows, watch);
  }
}

}  // namespace
}  // namespace weft::lattice

int main(int count, char** arguments) {
  using namespace weft::lattice;
  const std::string part = count > 1 ? arguments[1] : "";
  const uint64_t rows = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1'000'000;
  const Size size{rows, count > 3 ? static_cast<unsigned>(std::atoi(arguments[3])) : 2};
  const weft::TemporaryDirectory folder = need(weft::TemporaryDirectory::create("bench"));
  if (part == "world") {
    bench_world(folder, size);
  } else if (part == "zip") {
    bench_zip(folder, size);
  } else if (part == "sketch") {
    bench_sketch(size);
  } else if (part == "reader") {
    bench_reader(folder, size);
  } else {
    std::fprintf(stderr, "bench_lattice_data world|zip|sketch|reader [ROWS] [WORKERS]\n");
    return 2;
  }
  return 0;
}
