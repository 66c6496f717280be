// SPDX-License-Identifier: Apache-2.0

// The queue of one machine: one table, one connection, one lock. Waiting threads of this process
// are woken by a condition; no other process writes, which a file lock sees to.
#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "ptxbench/service/database.h"
#include "ptxbench/service/queue.h"
#include "ptxbench/service/task_row.h"

namespace weft::service {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kStepsOfLog = 1024;  // about 10 MiB of verdicts
constexpr unsigned kRoundsOfLog = 4;    // a step in so many thousand may wait for the disk

// `place` orders the queue; a task that is given back keeps it. Prompts and results are text.
constexpr const char* kTables[] = {
    "CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, kind TEXT NOT NULL, definition TEXT "
    "NOT "
    "NULL, solution TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL, place INTEGER NOT "
    "NULL, attempts INTEGER NOT NULL DEFAULT 0, deaths INTEGER NOT NULL DEFAULT 0, claim TEXT NOT "
    "NULL DEFAULT '', created REAL NOT NULL, started REAL NOT NULL DEFAULT 0, finished REAL NOT "
    "NULL DEFAULT 0, result TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '', history TEXT "
    "NOT NULL DEFAULT '') WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS waiting ON tasks (place) WHERE state = 'pending'",
    "CREATE INDEX IF NOT EXISTS states ON tasks (state)",
};

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e6)));
}

class SqliteQueue : public Queue {
 public:
  SqliteQueue(Database database, Descriptor lock, const QueueLimits& limits)
      : database_(std::move(database)), file_lock_(std::move(lock)), limits_(limits) {}
  ~SqliteQueue() override {
    {
      const std::lock_guard hold(mutex_);
      stopped_ = true;
    }
    written_.notify_all();
    if (checkpointer_.joinable()) checkpointer_.join();
  }

  // What steps append to the log is moved to the table by a thread with a connection of its own:
  // a step that did it itself would wait for the disk, and its client with it.
  void move_log_in_background(Database connection) {
    checkpointer_ = std::thread([this, log = std::make_shared<Database>(std::move(connection))] {
      std::unique_lock lock(mutex_);
      while (!stopped_) {
        written_.wait(lock, [this] { return stopped_ || steps_ >= kStepsOfLog; });
        if (stopped_) return;
        steps_ = 0;
        lock.unlock();
        // An error leaves the log as it is; the next round moves all of it.
        (void)log->query("PRAGMA wal_checkpoint(PASSIVE)");
        lock.lock();
        // Steps that came meanwhile are few; with them the log can begin anew.
        if (++rounds_ % kRoundsOfLog == 0) (void)database_.query("PRAGMA wal_checkpoint(PASSIVE)");
      }
    });
  }

  // What a server that is gone had running waits again.
  Result<Done> recover(bool wait_for_disk) {
    TRY(database_.query("PRAGMA journal_mode = WAL"));
    TRY(database_.query("PRAGMA wal_autocheckpoint = 0"));
    TRY(database_.query(wait_for_disk ? "PRAGMA synchronous = FULL"
                                      : "PRAGMA synchronous = NORMAL"));
    for (const char* sql : kTables) TRY(database_.query(sql));
    TRY(database_.query(
        "UPDATE tasks SET state = 'pending', claim = '', history = history || 'attempt ' || "
        "attempts || ': the server ended' || char(10) WHERE state = 'running'"));
    const std::vector<SqlRow> rows = TRY(database_.query("SELECT max(place) FROM tasks"));
    next_place_ = rows.front().integer(0) + 1;
    for (const SqlRow& row :
         TRY(database_.query("SELECT state, count(*) FROM tasks GROUP BY state")))
      if (const auto state = state_named(row.text(0)))
        count(*state) = static_cast<uint64_t>(row.integer(1));
    return Done{};
  }

  Result<Accepted> submit(const Submission& submission) override {
    const std::lock_guard lock(mutex_);
    const auto known =
        TRY(database_.query("SELECT state FROM tasks WHERE id = ?", {submission.id}));
    const bool cancelled = !known.empty() && known.front().text(0) == name(State::Cancelled);
    if (!known.empty() && !cancelled) return Accepted::Known;
    if (counts_.pending >= limits_.pending) return Accepted::Full;
    if (cancelled) {
      TRY(database_.query(
          "UPDATE tasks SET state = 'pending', place = ?, created = ?, started = 0, "
          "finished = 0, error = '', deaths = 0 WHERE id = ?",
          {next_place_++, unix_seconds(), submission.id}));
      --counts_.cancelled;
    } else {
      TRY(database_.query(
          "INSERT INTO tasks (id, kind, definition, solution, request, state, place, created) "
          "VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)",
          {submission.id, std::string(name(submission.kind)), submission.definition,
           submission.solution, submission.request, next_place_++, unix_seconds()}));
    }
    ++counts_.pending;
    arrived_.notify_one();
    wrote();
    return Accepted::Fresh;
  }

  Result<std::optional<Claim>> claim(const std::string& worker, double seconds) override {
    std::unique_lock lock(mutex_);
    arrived_.wait_until(lock, after(seconds), [&] { return stopped_ || counts_.pending > 0; });
    if (stopped_ || counts_.pending == 0) return std::optional<Claim>();
    const std::string token = fmt::format("{}-{:016x}", worker, random_());
    const auto rows = TRY(database_.query(
        "UPDATE tasks SET state = 'running', attempts = attempts + 1, claim = ?, started = ? WHERE "
        "id = (SELECT id FROM tasks WHERE state = 'pending' ORDER BY place LIMIT 1) "
        "RETURNING id, request, attempts, created",
        {token, unix_seconds()}));
    if (rows.empty()) return std::optional<Claim>();
    move(State::Pending, State::Running);
    const SqlRow& row = rows.front();
    return std::optional(Claim{.id = row.text(0),
                               .token = token,
                               .request = row.text(1),
                               .attempt = static_cast<unsigned>(row.integer(2)),
                               .created = row.number(3)});
  }

  Result<bool> renew(const Claim& claim) override {
    const std::lock_guard lock(mutex_);
    const auto rows =
        TRY(database_.query("SELECT 1 FROM tasks WHERE id = ? AND claim = ? AND state = 'running'",
                            {claim.id, claim.token}));
    return !rows.empty();
  }

  Result<bool> complete(const Claim& claim, const std::string& result) override {
    return end(claim, State::Completed, result, "");
  }

  Result<bool> fail(const Claim& claim, const std::string& error) override {
    return end(claim, State::Failed, "", error);
  }

  Result<Done> lose(const Claim& claim, const std::string& how) override {
    const std::lock_guard lock(mutex_);
    const auto rows = TRY(database_.query(
        "UPDATE tasks SET deaths = deaths + 1, claim = '', history = history || ?, "
        "state = CASE WHEN deaths + 1 >= ? THEN 'failed' ELSE 'pending' END "
        "WHERE id = ? AND claim = ? AND state = 'running' RETURNING state, history, deaths",
        {fmt::format("attempt {}: {}\n", claim.attempt, how), int64_t{limits_.deaths}, claim.id,
         claim.token}));
    if (rows.empty()) return Done{};
    if (rows.front().text(0) == name(State::Pending)) {
      move(State::Running, State::Pending);
      arrived_.notify_one();
      return Done{};
    }
    TRY(database_.query("UPDATE tasks SET error = ?, finished = ? WHERE id = ?",
                        {fmt::format("{} workers died over this task\n{}", rows.front().integer(2),
                                     rows.front().text(1)),
                         unix_seconds(), claim.id}));
    move(State::Running, State::Failed);
    ended_.notify_all();
    return Done{};
  }

  Result<Done> give_back(const Claim& claim) override {
    const std::lock_guard lock(mutex_);
    TRY(
        database_.query("UPDATE tasks SET state = 'pending', claim = '' WHERE id = ? AND claim = ? "
                        "AND state = 'running'",
                        {claim.id, claim.token}));
    if (database_.changed() == 0) return Done{};
    move(State::Running, State::Pending);
    arrived_.notify_one();
    return Done{};
  }

  Result<std::optional<State>> cancel(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    const auto rows = TRY(database_.query("SELECT state FROM tasks WHERE id = ?", {id}));
    if (rows.empty()) return std::optional<State>();
    const State before = state_named(rows.front().text(0)).value_or(State::Failed);
    if (ended(before)) return std::optional(before);
    TRY(
        database_.query("UPDATE tasks SET state = 'cancelled', claim = '', finished = ?, error = "
                        "'cancelled' WHERE id = ?",
                        {unix_seconds(), id}));
    move(before, State::Cancelled);
    ended_.notify_all();
    return std::optional(State::Cancelled);
  }

  Result<std::optional<TaskRecord>> find(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    const auto rows = TRY(
        database_.query(fmt::format("SELECT {} FROM tasks WHERE id = ?", kRecordColumns), {id}));
    if (rows.empty()) return std::optional<TaskRecord>();
    return std::optional(record_of(rows.front()));
  }

  Result<std::optional<std::string>> request(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    const auto rows = TRY(database_.query("SELECT request FROM tasks WHERE id = ?", {id}));
    if (rows.empty()) return std::optional<std::string>();
    return std::optional(rows.front().text(0));
  }

  Result<Done> wait(const std::vector<std::string>& ids, double seconds) override {
    const Clock::time_point deadline = after(seconds);
    std::unique_lock lock(mutex_);
    for (size_t i = 0; i < ids.size() && !stopped_;) {
      const auto rows = TRY(database_.query("SELECT state FROM tasks WHERE id = ?", {ids[i]}));
      if (rows.empty() || ended(state_named(rows.front().text(0)).value_or(State::Failed)))
        ++i;
      else if (ended_.wait_until(lock, deadline) == std::cv_status::timeout)
        break;
    }
    return Done{};
  }

  Result<QueueCounts> counts() override {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

  void stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    arrived_.notify_all();
    ended_.notify_all();
  }

 private:
  Result<bool> end(const Claim& claim, State state, const std::string& result,
                   const std::string& error) {
    const std::lock_guard lock(mutex_);
    TRY(database_.query(
        "UPDATE tasks SET state = ?, claim = '', finished = ?, result = ?, error = ? "
        "WHERE id = ? AND claim = ? AND state = 'running'",
        {std::string(name(state)), unix_seconds(), result, error, claim.id, claim.token}));
    if (database_.changed() == 0) return false;
    move(State::Running, state);
    ended_.notify_all();
    return true;
  }

  void wrote() {
    if (++steps_ == kStepsOfLog) written_.notify_one();
  }

  uint64_t& count(State state) {
    uint64_t* const all[] = {&counts_.pending, &counts_.running, &counts_.completed,
                             &counts_.failed, &counts_.cancelled};
    return *all[static_cast<size_t>(state)];
  }

  void move(State from, State to) {
    --count(from);
    ++count(to);
    wrote();
  }

  std::mutex mutex_;
  std::condition_variable arrived_, ended_, written_;
  Database database_;
  Descriptor file_lock_;
  QueueLimits limits_;
  QueueCounts counts_;  // of the table, kept beside it: a count there reads every row
  int64_t next_place_ = 1;
  bool stopped_ = false;
  unsigned steps_ = 0;   // written since the log was moved
  unsigned rounds_ = 0;  // of the checkpointer
  std::thread checkpointer_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace

Result<std::unique_ptr<Queue>> open_sqlite_queue(const SqliteOptions& options) {
  std::error_code failure;
  std::filesystem::create_directories(options.folder, failure);
  if (failure)
    return Error("cannot make the store " + options.folder + ": " + failure.message(),
                 "name a folder that can be written with --store");
  const std::string lock_path = options.folder + "/lock";
  Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.open())
    return Error("cannot write in the store: " + options.folder,
                 "name a folder that can be written with --store");
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error("another server has this store open: " + options.folder,
                 "stop it, or name another folder with --store");
  Database database = TRY(Database::open(options.folder + "/tasks.sqlite"));
  auto queue = std::make_unique<SqliteQueue>(std::move(database), std::move(lock), options.limits);
  TRY(queue->recover(options.wait_for_disk));
  queue->move_log_in_background(TRY(Database::open(options.folder + "/tasks.sqlite")));
  return std::unique_ptr<Queue>(std::move(queue));
}

}  // namespace weft::service
