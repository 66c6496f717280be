// SPDX-License-Identifier: Apache-2.0

// The log is written by the kernel when write() returns, so that a killed process loses nothing;
// one batch is one record of the log, so that nothing is half-written.
#include "lattice/distillation/rocks_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <nlohmann/json.hpp>

#include "lattice/distillation/teacher_entry.h"

namespace weft::lattice {
namespace {

constexpr const char* kRecord = "teacher store";
constexpr const char* kBucketName = "bucket ";
constexpr size_t kKeyBytes = 16;
constexpr int64_t kSecond = 1'000'000;
// Clocks of two machines differ by less. A time far ahead would expire everything else.
constexpr int64_t kClockSkew = 60 * kSecond;
constexpr uint64_t kMegabyte = 1 << 20;

Error failed(const std::string& what, const std::string& folder, const rocksdb::Status& status) {
  return Error(fmt::format("{}: {}: {}", what, folder, status.ToString()),
               status.IsIOError() ? "another process may have it open, or the disk is full" : "");
}

int64_t wall_clock() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

rocksdb::ColumnFamilyOptions bucket_options(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.format_version = 5;
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kNoCompression;  // the mantissas of embeddings are noise
  options.write_buffer_size = 64 * kMegabyte;
  options.memtable_whole_key_filtering = true;
  options.memtable_prefix_bloom_size_ratio = 0.02;
  return options;
}

rocksdb::Options engine_options() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.db_write_buffer_size = 256 * kMegabyte;
  options.max_total_wal_size = 512 * kMegabyte;
  options.max_background_jobs = 2;
  options.keep_log_file_num = 2;
  options.info_log_level = rocksdb::WARN_LEVEL;
  return options;
}

class RocksStore final : public TeacherStore {
 public:
  struct Wanted {
    TeacherDescription description;
    StoreLimits limits;
  };

  static Result<std::unique_ptr<TeacherStore>> open(const std::string& folder, Access access,
                                                    const std::optional<Wanted>& wanted);
  ~RocksStore() override {
    buckets_.clear();
    default_.reset();
  }

  const TeacherDescription& description() const override { return record_.description; }
  const StoreLimits& limits() const override { return record_.limits; }
  Result<Done> write(const TeacherEntries& entries) override;
  Result<Done> sync() override;
  Result<TeacherAnswers> look_up(std::span<const Pair> pairs,
                                 std::span<const int64_t> as_of) override;
  Result<uint64_t> expire(int64_t now) override;
  StoreUse use() const override;
  Result<Json> contents() override;

 private:
  using Family = std::shared_ptr<rocksdb::ColumnFamilyHandle>;
  struct Question {
    uint64_t user, item;
    uint32_t row;
  };
  // What one call of the engine takes at most; memory for its answers is kept for the next one.
  static constexpr size_t kAtOnce = 512;

  RocksStore(std::string folder, std::unique_ptr<rocksdb::DB> engine,
             std::shared_ptr<rocksdb::Cache> cache, StoreRecord record)
      : folder_(std::move(folder)),
        cache_(std::move(cache)),
        engine_(std::move(engine)),
        record_(std::move(record)),
        layout_(record_.description),
        bucket_(std::max<int64_t>(
            1, static_cast<int64_t>(record_.limits.bucket_seconds * static_cast<double>(kSecond)))),
        lifetime_(
            static_cast<int64_t>(record_.limits.lifetime_seconds * static_cast<double>(kSecond))),
        retention_(
            static_cast<int64_t>(record_.limits.retention_seconds * static_cast<double>(kSecond))) {
  }

  Family own(rocksdb::ColumnFamilyHandle* handle) {
    return {handle, [engine = engine_.get()](rocksdb::ColumnFamilyHandle* gone) {
              engine->DestroyColumnFamilyHandle(gone);
            }};
  }
  int64_t oldest_kept(int64_t now) const { return (now - retention_) / bucket_; }
  Result<Done> need_buckets(const std::vector<int64_t>& wanted);
  // The lock is held by the caller.
  Result<Done> drop_oldest();
  uint64_t bytes_of(rocksdb::ColumnFamilyHandle* family) const;
  uint64_t bytes_here() const;
  Result<Done> ask(int64_t bucket, rocksdb::ColumnFamilyHandle* family,
                   std::span<const int64_t> as_of, std::vector<Question>& open,
                   TeacherAnswers& answers);

  std::string folder_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::unique_ptr<rocksdb::DB> engine_;
  StoreRecord record_;
  EntryLayout layout_;
  int64_t bucket_, lifetime_, retention_;

  mutable std::shared_mutex mutex_;  // of the map; look-ups and writes share it
  std::map<int64_t, Family> buckets_;
  Family default_;
  int64_t newest_ = 0;  // entry that was written
  std::atomic<uint64_t> since_measured_{0};

  std::atomic<uint64_t> written_{0}, too_old_{0};
  std::array<std::atomic<uint64_t>, kLookUps> looked_up_{};
  std::array<std::atomic<uint64_t>, StoreUse::kAges> ages_{};
};

Result<std::unique_ptr<TeacherStore>> RocksStore::open(const std::string& folder, Access access,
                                                       const std::optional<Wanted>& wanted) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(folder + "/CURRENT", ignored);
  if (!there && !wanted)
    return Error("there is no teacher store: " + folder, "give the folder that a teacher writes");
  if (!there && std::filesystem::exists(folder, ignored) &&
      !std::filesystem::is_empty(folder, ignored))
    return Error("the folder holds something else than a teacher store: " + folder,
                 "give an empty folder or a new name");
  if (!there) std::filesystem::create_directories(folder, ignored);

  const rocksdb::Options options = engine_options();
  std::vector<std::string> names = {rocksdb::kDefaultColumnFamilyName};
  if (there) {
    const rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, folder, &names);
    if (!status.ok()) return failed("a teacher store cannot be read", folder, status);
  }
  const auto cache = rocksdb::NewLRUCache(256 * kMegabyte, 4);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (const std::string& name : names) families.emplace_back(name, bucket_options(cache));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      access == Access::ReadOnly
          ? rocksdb::DB::OpenForReadOnly(options, folder, families, &handles, &opened)
          : rocksdb::DB::Open(options, folder, families, &handles, &opened);
  if (!status.ok()) return failed("a teacher store cannot be opened", folder, status);
  std::unique_ptr<rocksdb::DB> engine(opened);
  const auto release = [&](Error error) {
    for (rocksdb::ColumnFamilyHandle* handle : handles) engine->DestroyColumnFamilyHandle(handle);
    return error;
  };

  std::string text;
  const rocksdb::Status found = engine->Get({}, kRecord, &text);
  StoreRecord record;
  if (found.ok()) {
    Result<StoreRecord> parsed = parse_record(text, folder);
    if (!parsed.ok()) return release(parsed.error());
    record = *parsed;
    if (wanted) {
      const Result<Done> same = same_teacher(record.description, wanted->description, folder);
      if (!same.ok()) return release(same.error());
      const StoreLimits& mine = record.limits;
      const StoreLimits& asked = wanted->limits;
      if (std::tie(mine.lifetime_seconds, mine.retention_seconds, mine.bucket_seconds) !=
          std::tie(asked.lifetime_seconds, asked.retention_seconds, asked.bucket_seconds))
        return release(Error(
            fmt::format("the store has other limits: {}: lifetime {} s, retention {} s, "
                        "bucket {} s",
                        folder, mine.lifetime_seconds, mine.retention_seconds, mine.bucket_seconds),
            "open it with these, or make a new one"));
      record.limits.most_bytes = asked.most_bytes;
    }
  } else if (found.IsNotFound() && wanted && names.size() == 1) {
    record = {wanted->description, wanted->limits};
    rocksdb::WriteOptions durable;
    durable.sync = true;
    const rocksdb::Status put =
        engine->Put(durable, kRecord, to_record(record.description, record.limits));
    if (!put.ok()) return release(failed("a teacher store cannot be written", folder, put));
  } else {
    return release(Error("the folder holds a RocksDB that is no teacher store: " + folder,
                         "give another folder"));
  }

  std::unique_ptr<RocksStore> store(
      new RocksStore(folder, std::move(engine), cache, std::move(record)));
  for (size_t i = 0; i < handles.size(); ++i) {
    const Family family = store->own(handles[i]);
    if (names[i].rfind(kBucketName, 0) == 0)
      store->buckets_[std::atoll(names[i].c_str() + std::string_view(kBucketName).size())] = family;
    else
      store->default_ = family;
  }
  return std::unique_ptr<TeacherStore>(std::move(store));
}

Result<Done> RocksStore::need_buckets(const std::vector<int64_t>& wanted) {
  const std::unique_lock lock(mutex_);
  for (const int64_t bucket : wanted) {
    if (buckets_.count(bucket) != 0) continue;
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    const rocksdb::Status status = engine_->CreateColumnFamily(
        bucket_options(cache_), kBucketName + std::to_string(bucket), &handle);
    if (!status.ok()) return failed("a bucket of a teacher store cannot be made", folder_, status);
    buckets_[bucket] = own(handle);
  }
  return Done{};
}

Result<Done> RocksStore::write(const TeacherEntries& entries) {
  TRY(layout_.check(entries));
  if (entries.pairs.empty()) return Done{};
  const int64_t latest = *std::max_element(entries.computed_at.begin(), entries.computed_at.end());
  if (latest > wall_clock() + kClockSkew)
    return Error(fmt::format("an entry says that it was computed in the future: {}", latest),
                 "times are microseconds since 1970-01-01 UTC; set this machine's clock");
  {
    const std::unique_lock lock(mutex_);
    newest_ = std::max(newest_, latest);
    if (!buckets_.empty()) newest_ = std::max(newest_, buckets_.rbegin()->first * bucket_);
  }
  const int64_t oldest = oldest_kept(newest_);
  std::vector<int64_t> wanted;
  for (const int64_t time : entries.computed_at)
    if (time / bucket_ >= oldest && (wanted.empty() || wanted.back() != time / bucket_))
      wanted.push_back(time / bucket_);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  bool missing = false;
  {
    const std::shared_lock lock(mutex_);
    for (const int64_t bucket : wanted) missing = missing || buckets_.count(bucket) == 0;
  }
  if (missing) {
    TRY(expire(newest_));
    TRY(need_buckets(wanted));
  }

  uint64_t kept = 0;
  {
    const std::shared_lock lock(mutex_);
    rocksdb::WriteBatch batch(entries.pairs.size() * (layout_.bytes() + kKeyBytes + 8) + 64);
    std::string value;
    std::array<char, kKeyBytes> key{};
    for (size_t row = 0; row < entries.pairs.size(); ++row) {
      const auto bucket = buckets_.find(entries.computed_at[row] / bucket_);
      if (bucket == buckets_.end()) continue;
      pack_key(entries.pairs[row], key.data());
      value.clear();
      layout_.pack(entries, row, value);
      batch.Put(bucket->second.get(), {key.data(), key.size()}, value);
      ++kept;
    }
    const rocksdb::Status status = engine_->Write({}, &batch);
    if (!status.ok()) return failed("entries of a teacher cannot be written", folder_, status);
  }
  written_ += kept;
  too_old_ += entries.pairs.size() - kept;
  since_measured_ += kept * (layout_.bytes() + kKeyBytes);
  if (since_measured_ > std::min(record_.limits.most_bytes / 16, 64 * kMegabyte)) {
    since_measured_ = 0;
    const std::unique_lock lock(mutex_);
    while (buckets_.size() > 1 && bytes_here() > record_.limits.most_bytes) TRY(drop_oldest());
  }
  return Done{};
}

Result<Done> RocksStore::sync() {
  const rocksdb::Status status = engine_->FlushWAL(true);
  if (!status.ok()) return failed("a teacher store cannot be written to disk", folder_, status);
  return Done{};
}

Result<TeacherAnswers> RocksStore::look_up(std::span<const Pair> pairs,
                                           std::span<const int64_t> as_of) {
  TeacherAnswers answers = TRY(unanswered(record_.description, pairs, as_of));
  std::vector<Question> open;
  open.reserve(pairs.size());
  for (size_t row = 0; row < pairs.size(); ++row) {
    if (as_of[row] < record_.description.trained_until)
      answers.results[row] = LookUp::TeacherAhead;
    else
      open.push_back({pairs[row].user, pairs[row].item, static_cast<uint32_t>(row)});
  }
  std::sort(open.begin(), open.end(), [](const Question& a, const Question& b) {
    return a.user != b.user ? a.user < b.user : a.item < b.item;
  });
  {
    const std::shared_lock lock(mutex_);
    for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend() && !open.empty(); ++bucket)
      TRY(ask(bucket->first, bucket->second.get(), as_of, open, answers));
  }
  std::array<uint64_t, kLookUps> counts{};
  std::array<uint64_t, StoreUse::kAges> ages{};
  for (size_t row = 0; row < pairs.size(); ++row) {
    ++counts[static_cast<size_t>(answers.results[row])];
    if (answers.results[row] == LookUp::Hit)
      ++ages[std::min<size_t>(StoreUse::kAges - 1,
                              static_cast<size_t>((as_of[row] - answers.computed_at[row]) *
                                                  int64_t{StoreUse::kAges} / lifetime_))];
  }
  for (size_t i = 0; i < counts.size(); ++i) looked_up_[i] += counts[i];
  for (size_t i = 0; i < ages.size(); ++i) ages_[i] += ages[i];
  return answers;
}

Result<Done> RocksStore::ask(int64_t bucket, rocksdb::ColumnFamilyHandle* family,
                             std::span<const int64_t> as_of, std::vector<Question>& open,
                             TeacherAnswers& answers) {
  const size_t width = record_.description.width, tasks = record_.description.tasks.size();
  std::array<std::array<char, kKeyBytes>, kAtOnce> bytes;
  std::array<rocksdb::Slice, kAtOnce> keys;
  std::array<size_t, kAtOnce> position{};
  std::array<rocksdb::PinnableSlice, kAtOnce> values;
  std::array<rocksdb::Status, kAtOnce> statuses;
  size_t kept = 0;
  const auto settle = [&](size_t count) -> Result<Done> {
    engine_->MultiGet({}, family, count, keys.data(), values.data(), statuses.data(), true);
    for (size_t i = 0; i < count; ++i) {
      const Question question = open[position[i]];
      const size_t row = question.row;
      if (statuses[i].IsNotFound()) {
        open[kept++] = question;
        continue;
      }
      if (!statuses[i].ok())
        return failed("an entry of a teacher store cannot be read", folder_, statuses[i]);
      const char* entry = values[i].data();
      if (!layout_.owns(entry, values[i].size()))
        return Error(fmt::format("an entry of a teacher store is damaged: {}: user {}, item {}",
                                 folder_, question.user, question.item),
                     "make a new store");
      const int64_t time = EntryLayout::computed_at(entry);
      if (time > as_of[row]) {
        answers.results[row] = LookUp::NotYet;
        open[kept++] = question;
      } else if (as_of[row] - time > lifetime_) {
        answers.results[row] = LookUp::Expired;
      } else {
        answers.results[row] = LookUp::Hit;
        answers.computed_at[row] = time;
        layout_.unpack(entry, answers.embeddings.data() + row * width,
                       answers.logits.data() + row * tasks);
      }
      values[i].Reset();
    }
    return Done{};
  };
  size_t count = 0;
  for (size_t i = 0; i < open.size(); ++i) {
    // Buckets after the event's hold nothing for it.
    if (bucket > as_of[open[i].row] / bucket_) {
      if (count != 0) TRY(settle(std::exchange(count, 0)));
      open[kept++] = open[i];
      continue;
    }
    pack_key({open[i].user, open[i].item}, bytes[count].data());
    keys[count] = {bytes[count].data(), kKeyBytes};
    position[count++] = i;
    if (count == kAtOnce) TRY(settle(std::exchange(count, 0)));
  }
  if (count != 0) TRY(settle(count));
  open.resize(kept);
  return Done{};
}

uint64_t RocksStore::bytes_of(rocksdb::ColumnFamilyHandle* family) const {
  uint64_t files = 0, memory = 0;
  engine_->GetIntProperty(family, rocksdb::DB::Properties::kTotalSstFilesSize, &files);
  engine_->GetIntProperty(family, rocksdb::DB::Properties::kCurSizeAllMemTables, &memory);
  return files + memory;
}

uint64_t RocksStore::bytes_here() const {
  uint64_t bytes = 0;
  for (const auto& [bucket, family] : buckets_) bytes += bytes_of(family.get());
  return bytes;
}

Result<Done> RocksStore::drop_oldest() {
  const rocksdb::Status status = engine_->DropColumnFamily(buckets_.begin()->second.get());
  if (!status.ok()) return failed("a bucket of a teacher store cannot be dropped", folder_, status);
  buckets_.erase(buckets_.begin());
  return Done{};
}

Result<uint64_t> RocksStore::expire(int64_t now) {
  const std::unique_lock lock(mutex_);
  uint64_t dropped = 0;
  for (; !buckets_.empty() && buckets_.begin()->first < oldest_kept(now); ++dropped)
    TRY(drop_oldest());
  return dropped;
}

StoreUse RocksStore::use() const {
  StoreUse use{.written = written_, .too_old = too_old_};
  for (size_t i = 0; i < use.looked_up.size(); ++i) use.looked_up[i] = looked_up_[i];
  for (size_t i = 0; i < use.ages.size(); ++i) use.ages[i] = ages_[i];
  return use;
}

Result<Json> RocksStore::contents() {
  const std::shared_lock lock(mutex_);
  Json buckets = Json::array();
  uint64_t entries = 0, bytes = 0;
  for (const auto& [bucket, family] : buckets_) {
    uint64_t keys = 0;
    engine_->GetIntProperty(family.get(), rocksdb::DB::Properties::kEstimateNumKeys, &keys);
    const uint64_t size = bytes_of(family.get());
    buckets.push_back({{"from", bucket * bucket_},
                       {"until", (bucket + 1) * bucket_},
                       {"entries_about", keys},
                       {"bytes", size}});
    entries += keys;
    bytes += size;
  }
  return Json{{"teacher", to_json(record_.description)},
              {"lifetime_seconds", record_.limits.lifetime_seconds},
              {"retention_seconds", record_.limits.retention_seconds},
              {"bucket_seconds", record_.limits.bucket_seconds},
              {"entries_about", entries},
              {"bytes", bytes},
              {"buckets", buckets}};
}

}  // namespace

Result<std::unique_ptr<TeacherStore>> open_rocks_store(const std::string& folder,
                                                       const TeacherDescription& description,
                                                       const StoreLimits& limits) {
  TRY(check(description));
  const StoreLimits chosen = TRY(settled(limits));
  return RocksStore::open(folder, Access::ReadWrite, RocksStore::Wanted{description, chosen});
}

Result<std::unique_ptr<TeacherStore>> open_rocks_store(const std::string& folder, Access access) {
  return RocksStore::open(folder, access, std::nullopt);
}

}  // namespace weft::lattice
