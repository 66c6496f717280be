// SPDX-License-Identifier: Apache-2.0

// NAME:record is the description; NAME:BUCKET:PAIR an entry, with bucket and pair in bytes. The
// name stands in braces, so that a cluster keeps a store together.
#include "lattice/distillation/redis_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/redis/connection.h"
#include "lattice/distillation/teacher_entry.h"

namespace weft::lattice {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr double kSecond = 1e6;
constexpr size_t kKeyBytes = 16;
constexpr size_t kKeysAtOnce = 2048;  // Redis serves nobody else meanwhile

struct Address {
  std::string server, prefix;
};

Result<Address> parse_address(const std::string& address) {
  const size_t mark = address.rfind('#');
  if (mark == std::string::npos || mark + 1 == address.size())
    return Error("the address of a store in Redis names no store: " + address,
                 "redis://127.0.0.1:6379/0#name, or unix:/run/redis.sock#name");
  return Address{address.substr(0, mark), "{" + address.substr(mark + 1) + "}:"};
}

class RedisStore final : public TeacherStore {
 public:
  RedisStore(Address address, const RedisStoreOptions& options, StoreRecord record,
             RedisConnection connection)
      : address_(std::move(address)),
        options_(options),
        record_(std::move(record)),
        layout_(record_.description),
        bucket_(
            std::max<int64_t>(1, static_cast<int64_t>(record_.limits.bucket_seconds * kSecond))),
        lifetime_(static_cast<int64_t>(record_.limits.lifetime_seconds * kSecond)),
        connection_(std::move(connection)) {}

  const TeacherDescription& description() const override { return record_.description; }
  const StoreLimits& limits() const override { return record_.limits; }
  Result<Done> write(const TeacherEntries& entries) override;
  // Whether a write survives its machine is Redis' configuration.
  Result<Done> sync() override { return Done{}; }
  Result<TeacherAnswers> look_up(std::span<const Pair> pairs,
                                 std::span<const int64_t> as_of) override;
  // Redis drops what is too old by itself.
  Result<uint64_t> expire(int64_t) override { return uint64_t{0}; }
  StoreUse use() const override;
  Result<Json> contents() override;

 private:
  int64_t buckets_of_lifetime() const { return (lifetime_ + bucket_ - 1) / bucket_; }
  std::string key(const Pair& pair, int64_t bucket) const;
  // The lock is held. A connection that works, or an error at once.
  Result<RedisConnection*> connected();
  Result<std::vector<RedisReply>> ask(const std::vector<Words>& commands);
  void settle(int64_t as_of, std::span<const RedisReply> newest_first, size_t row,
              TeacherAnswers& answers) const;

  Address address_;
  RedisStoreOptions options_;
  StoreRecord record_;
  EntryLayout layout_;
  int64_t bucket_, lifetime_;

  std::mutex mutex_;  // of the connection
  std::optional<RedisConnection> connection_;
  Clock::time_point next_attempt_;

  std::atomic<uint64_t> written_{0};
  std::array<std::atomic<uint64_t>, kLookUps> looked_up_{};
  std::array<std::atomic<uint64_t>, StoreUse::kAges> ages_{};
};

std::string RedisStore::key(const Pair& pair, int64_t bucket) const {
  std::array<char, kKeyBytes> bytes{};
  pack_key(pair, bytes.data());
  return fmt::format("{}{}:{}", address_.prefix, bucket, std::string_view(bytes.data(), kKeyBytes));
}

Result<RedisConnection*> RedisStore::connected() {
  if (connection_ && !connection_->broken()) return &*connection_;
  connection_.reset();
  if (Clock::now() < next_attempt_)
    return Error("Redis is away: " + address_.server, "it is tried again in a moment");
  next_attempt_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(options_.retry_seconds));
  connection_ =
      TRY(RedisConnection::open(address_.server, {.connect_seconds = options_.connect_seconds,
                                                  .answer_seconds = options_.answer_seconds}));
  return &*connection_;
}

Result<std::vector<RedisReply>> RedisStore::ask(const std::vector<Words>& commands) {
  const std::lock_guard lock(mutex_);
  RedisConnection* connection = TRY(connected());
  return connection->commands(commands);
}

Result<Done> RedisStore::write(const TeacherEntries& entries) {
  TRY(layout_.check(entries));
  if (entries.pairs.empty()) return Done{};
  const auto kept =
      std::to_string(static_cast<uint64_t>(std::max(1.0, record_.limits.retention_seconds)));
  std::vector<Words> commands = {{"MULTI"}};
  for (size_t row = 0; row < entries.pairs.size(); ++row) {
    std::string value;
    layout_.pack(entries, row, value);
    commands.push_back({"SET", key(entries.pairs[row], entries.computed_at[row] / bucket_),
                        std::move(value), "EX", kept});
  }
  commands.push_back({"EXEC"});
  TRY(ask(commands));
  written_ += entries.pairs.size();
  return Done{};
}

void RedisStore::settle(int64_t as_of, std::span<const RedisReply> newest_first, size_t row,
                        TeacherAnswers& answers) const {
  const size_t width = record_.description.width, tasks = record_.description.tasks.size();
  for (const RedisReply& reply : newest_first) {
    if (reply.kind != RedisReply::Kind::Text || !layout_.owns(reply.text.data(), reply.text.size()))
      continue;
    const int64_t time = EntryLayout::computed_at(reply.text.data());
    if (time > as_of) {
      answers.results[row] = LookUp::NotYet;
      continue;
    }
    answers.results[row] = as_of - time > lifetime_ ? LookUp::Expired : LookUp::Hit;
    if (answers.results[row] == LookUp::Expired) return;
    answers.computed_at[row] = time;
    layout_.unpack(reply.text.data(), answers.embeddings.data() + row * width,
                   answers.logits.data() + row * tasks);
    return;
  }
}

Result<TeacherAnswers> RedisStore::look_up(std::span<const Pair> pairs,
                                           std::span<const int64_t> as_of) {
  TeacherAnswers answers = TRY(unanswered(record_.description, pairs, as_of));
  const auto of_pair = static_cast<size_t>(buckets_of_lifetime() + 1);
  std::vector<size_t> rows;
  std::vector<Words> commands;
  for (size_t row = 0; row < pairs.size(); ++row) {
    if (as_of[row] < record_.description.trained_until) {
      answers.results[row] = LookUp::TeacherAhead;
      continue;
    }
    if (commands.empty() || commands.back().size() > kKeysAtOnce) commands.push_back({"MGET"});
    for (size_t i = 0; i < of_pair; ++i)
      commands.back().push_back(key(pairs[row], as_of[row] / bucket_ - static_cast<int64_t>(i)));
    rows.push_back(row);
  }
  const Result<std::vector<RedisReply>> replies =
      commands.empty() ? std::vector<RedisReply>() : ask(commands);
  std::vector<RedisReply> values;
  if (replies.ok())
    for (const RedisReply& reply : *replies)
      values.insert(values.end(), reply.list.begin(), reply.list.end());
  const bool whole = replies.ok() && values.size() == rows.size() * of_pair;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (whole)
      settle(as_of[rows[i]], std::span(values).subspan(i * of_pair, of_pair), rows[i], answers);
    else
      answers.results[rows[i]] = LookUp::Away;
  }
  for (size_t row = 0; row < pairs.size(); ++row) {
    ++looked_up_[static_cast<size_t>(answers.results[row])];
    if (answers.results[row] == LookUp::Hit)
      ++ages_[std::min<size_t>(StoreUse::kAges - 1,
                               static_cast<size_t>((as_of[row] - answers.computed_at[row]) *
                                                   int64_t{StoreUse::kAges} / lifetime_))];
  }
  return answers;
}

StoreUse RedisStore::use() const {
  StoreUse use{.written = written_};
  for (size_t i = 0; i < use.looked_up.size(); ++i) use.looked_up[i] = looked_up_[i];
  for (size_t i = 0; i < use.ages.size(); ++i) use.ages[i] = ages_[i];
  return use;
}

// Redis does not count the keys of one store, and walking over them all would hold up the others.
Result<Json> RedisStore::contents() {
  TRY(ask({{"PING"}}));
  return Json{{"teacher", to_json(record_.description)},
              {"lifetime_seconds", record_.limits.lifetime_seconds},
              {"retention_seconds", record_.limits.retention_seconds},
              {"bucket_seconds", record_.limits.bucket_seconds},
              {"entries_about", nullptr},
              {"bytes", nullptr},
              {"why_null", "Redis counts keys and bytes of a server, not of a store"},
              {"buckets", Json::array()}};
}

struct Wanted {
  TeacherDescription description;
  StoreLimits limits;
};

Result<std::unique_ptr<TeacherStore>> open(const std::string& text,
                                           const std::optional<Wanted>& wanted,
                                           const RedisStoreOptions& options) {
  const Address address = TRY(parse_address(text));
  RedisConnection connection =
      TRY(RedisConnection::open(address.server, {.connect_seconds = options.connect_seconds,
                                                 .answer_seconds = options.answer_seconds}));
  const std::string name = address.prefix + "record";
  // The first one makes the record; of two at once, one.
  if (wanted)
    TRY(connection.command({"SET", name, to_record(wanted->description, wanted->limits), "NX"}));
  const RedisReply kept = TRY(connection.command({"GET", name}));
  if (kept.kind != RedisReply::Kind::Text)
    return Error("there is no teacher store: " + text, "give the address that a teacher writes");
  StoreRecord record = TRY(parse_record(kept.text, text));
  if (wanted) {
    TRY(same_teacher(record.description, wanted->description, text));
    const StoreLimits &mine = record.limits, &asked = wanted->limits;
    if (std::tie(mine.lifetime_seconds, mine.retention_seconds, mine.bucket_seconds) !=
        std::tie(asked.lifetime_seconds, asked.retention_seconds, asked.bucket_seconds))
      return Error(
          fmt::format("the store has other limits: {}: lifetime {} s, retention {} s, "
                      "bucket {} s",
                      text, mine.lifetime_seconds, mine.retention_seconds, mine.bucket_seconds),
          "open it with these, or make a new one");
  }
  return std::unique_ptr<TeacherStore>(
      std::make_unique<RedisStore>(address, options, std::move(record), std::move(connection)));
}

}  // namespace

Result<std::unique_ptr<TeacherStore>> open_redis_store(const std::string& address,
                                                       const TeacherDescription& description,
                                                       const StoreLimits& limits,
                                                       const RedisStoreOptions& options) {
  TRY(check(description));
  const StoreLimits chosen = TRY(settled(limits));
  return open(address, Wanted{description, chosen}, options);
}

Result<std::unique_ptr<TeacherStore>> open_redis_store(const std::string& address,
                                                       const RedisStoreOptions& options) {
  return open(address, std::nullopt, options);
}

}  // namespace weft::lattice
