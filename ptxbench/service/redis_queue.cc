// SPDX-License-Identifier: Apache-2.0

// The queue of several machines: a hash for each task, a stream of waiting ones with one consumer
// group, a hash of counts. A worker that dies with its whole machine stops renewing its claim, and
// after the lease the entry is taken over by whoever asks for work next.
//
// Keys share a part in braces, so that a Redis cluster keeps them together.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/log.h"
#include "base/redis/connection.h"
#include "ptxbench/service/queue.h"
#include "ptxbench/service/redis_scripts.h"

namespace weft::service {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

// How long a blocked call may keep a stopping server waiting.
constexpr double kSliceSeconds = 0.5;

std::string now_text() {
  return fmt::format(
      "{:.6f}",
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

double number(const RedisReply& reply) {
  return reply.text.empty() ? 0 : std::strtod(reply.text.c_str(), nullptr);
}

unsigned whole(const RedisReply& reply) {
  return static_cast<unsigned>(number(reply));
}

double seconds_until(Clock::time_point deadline) {
  return std::chrono::duration<double>(deadline - Clock::now()).count();
}

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e6)));
}

// {{stream, {{entry, {"id", id}}}}} or {next, {{entry, {"id", id}}}, ...}: the first entry.
struct Entry {
  std::string name, id;
};

std::optional<Entry> first_entry(const std::vector<RedisReply>& entries) {
  if (entries.empty() || entries.front().list.size() < 2) return std::nullopt;
  const RedisReply& entry = entries.front();
  if (entry.list[1].list.size() < 2) return std::nullopt;
  return Entry{entry.list[0].text, entry.list[1].list[1].text};
}

class RedisQueue : public Queue {
 public:
  explicit RedisQueue(RedisOptions options)
      : options_(std::move(options)),
        stream_("{" + options_.prefix + "}:waiting"),
        counts_key_("{" + options_.prefix + "}:counts"),
        channel_("{" + options_.prefix + "}:ended") {}

  ~RedisQueue() override {
    stop();
    if (listener_.joinable()) listener_.join();
  }

  Result<Done> start() {
    const auto group = command({"XGROUP", "CREATE", stream_, "judges", "0", "MKSTREAM"});
    if (!group.ok() && group.error().message().find("BUSYGROUP") == std::string::npos)
      return group.error();
    RedisConnection subscription = TRY(RedisConnection::open(options_.url));
    TRY(subscription.command({"SUBSCRIBE", channel_}));
    listener_ = std::thread(
        [this, subscribed = std::move(subscription)]() mutable { listen(std::move(subscribed)); });
    return Done{};
  }

  Result<Accepted> submit(const Submission& submission) override {
    const RedisReply reply =
        TRY(script(redis_scripts::kSubmit, submission.id,
                   {submission.id, std::string(name(submission.kind)), submission.definition,
                    submission.solution, submission.request, now_text(),
                    std::to_string(options_.limits.pending)}));
    return reply.text == "fresh"   ? Accepted::Fresh
           : reply.text == "known" ? Accepted::Known
                                   : Accepted::Full;
  }

  Result<std::optional<Claim>> claim(const std::string& worker, double seconds) override {
    const Clock::time_point deadline = after(seconds);
    do {
      if (std::optional<Claim> taken = TRY(take_over(worker))) return taken;
      const double wait = std::clamp(seconds_until(deadline), 0.001, kSliceSeconds);
      const RedisReply reply = TRY(command({"XREADGROUP", "GROUP", "judges", worker, "BLOCK",
                                            std::to_string(static_cast<int>(wait * 1000)), "COUNT",
                                            "1", "STREAMS", stream_, ">"}));
      if (reply.list.empty() || reply.list.front().list.size() < 2) continue;
      const std::optional<Entry> entry = first_entry(reply.list.front().list[1].list);
      if (!entry) continue;
      if (std::optional<Claim> started = TRY(begin(worker, *entry, false))) return started;
    } while (!stopped_ && Clock::now() < deadline);
    return std::optional<Claim>();
  }

  Result<bool> renew(const Claim& claim) override {
    const RedisReply reply =
        TRY(script(redis_scripts::kRenew, claim.id, {claim.token, worker_of(claim)}));
    return reply.integer == 1;
  }

  Result<bool> complete(const Claim& claim, const std::string& result) override {
    return end(claim, State::Completed, result, "");
  }

  Result<bool> fail(const Claim& claim, const std::string& error) override {
    return end(claim, State::Failed, "", error);
  }

  Result<Done> lose(const Claim& claim, const std::string& how) override {
    return release(claim, how);
  }

  Result<Done> give_back(const Claim& claim) override { return release(claim, ""); }

  Result<std::optional<State>> cancel(const std::string& id) override {
    const RedisReply reply = TRY(script(redis_scripts::kCancel, id, {now_text(), channel_}));
    return state_named(reply.text);
  }

  Result<std::optional<TaskRecord>> find(const std::string& id) override {
    const RedisReply reply =
        TRY(command({"HMGET", key(id), "kind", "state", "definition", "solution", "attempts",
                     "deaths", "created", "started", "finished", "result", "error", "history"}));
    const std::vector<RedisReply>& field = reply.list;
    if (field.size() != 12 || field[1].text.empty()) return std::optional<TaskRecord>();
    return std::optional(TaskRecord{.id = id,
                                    .kind = kind_named(field[0].text).value_or(Kind::Evaluate),
                                    .state = state_named(field[1].text).value_or(State::Failed),
                                    .definition = field[2].text,
                                    .solution = field[3].text,
                                    .attempts = whole(field[4]),
                                    .deaths = whole(field[5]),
                                    .created = number(field[6]),
                                    .started = number(field[7]),
                                    .finished = number(field[8]),
                                    .result = field[9].text,
                                    .error = field[10].text,
                                    .history = field[11].text});
  }

  Result<std::optional<std::string>> request(const std::string& id) override {
    const RedisReply reply = TRY(command({"HGET", key(id), "request"}));
    if (reply.kind != RedisReply::Kind::Text) return std::optional<std::string>();
    return std::optional(reply.text);
  }

  Result<Done> wait(const std::vector<std::string>& ids, double seconds) override {
    const Clock::time_point deadline = after(seconds);
    for (size_t i = 0; i < ids.size() && !stopped_;) {
      // Read before the state: an end between the two is then a new number.
      const uint64_t seen = ended_count_;
      const RedisReply reply = TRY(command({"HGET", key(ids[i]), "state"}));
      const auto state = state_named(reply.text);
      if (!state || ended(*state)) {
        ++i;
        continue;
      }
      if (Clock::now() >= deadline) break;
      // A message may be lost when the connection breaks, so nobody relies on it alone.
      std::unique_lock lock(mutex_);
      const double slice = std::clamp(seconds_until(deadline), 0.001, kSliceSeconds);
      ended_.wait_for(lock, std::chrono::duration<double>(slice),
                      [&] { return stopped_ || ended_count_ != seen; });
    }
    return Done{};
  }

  Result<QueueCounts> counts() override {
    const RedisReply reply = TRY(
        command({"HMGET", counts_key_, "pending", "running", "completed", "failed", "cancelled"}));
    QueueCounts counts;
    uint64_t* const all[] = {&counts.pending, &counts.running, &counts.completed, &counts.failed,
                             &counts.cancelled};
    for (size_t i = 0; i < reply.list.size() && i < std::size(all); ++i)
      *all[i] = static_cast<uint64_t>(number(reply.list[i]));
    return counts;
  }

  void stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    ended_.notify_all();
  }

 private:
  std::string key(const std::string& id) const { return "{" + options_.prefix + "}:task:" + id; }

  // A token is the worker's name, a dash and a number.
  static std::string worker_of(const Claim& claim) {
    return claim.token.substr(0, claim.token.rfind('-'));
  }

  // Takes a connection that nobody uses, or opens one. One that failed is dropped.
  Result<RedisReply> command(const Words& words) {
    std::optional<RedisConnection> connection;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        connection.emplace(std::move(free_.back()));
        free_.pop_back();
      }
    }
    if (!connection) connection.emplace(TRY(RedisConnection::open(options_.url)));
    Result<RedisReply> reply = connection->command(words);
    if (reply.ok()) {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(*connection));
    }
    return reply;
  }

  Result<RedisReply> script(const char* text, const std::string& id, const Words& arguments) {
    Words words = {"EVAL", text, "3", key(id), stream_, counts_key_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return command(words);
  }

  Result<std::optional<Claim>> begin(const std::string& worker, const Entry& entry,
                                     bool taken_over) {
    std::string token;
    {
      const std::lock_guard lock(mutex_);
      token = fmt::format("{}-{:016x}", worker, random_());
    }
    const RedisReply reply = TRY(script(redis_scripts::kStart, entry.id,
                                        {token, now_text(), entry.name, taken_over ? "1" : "0",
                                         std::to_string(options_.limits.deaths), channel_}));
    if (reply.list.size() != 3) return std::optional<Claim>();
    return std::optional(Claim{.id = entry.id,
                               .token = token,
                               .request = reply.list[0].text,
                               .attempt = whole(reply.list[1]),
                               .created = number(reply.list[2])});
  }

  // An entry whose worker let its lease run out. Looked for a few times a lease.
  Result<std::optional<Claim>> take_over(const std::string& worker) {
    {
      const std::lock_guard lock(mutex_);
      if (Clock::now() < next_look_) return std::optional<Claim>();
      next_look_ = after(options_.lease_seconds / 4);
    }
    const auto lease = static_cast<int64_t>(options_.lease_seconds * 1000);
    const RedisReply reply = TRY(command(
        {"XAUTOCLAIM", stream_, "judges", worker, std::to_string(lease), "0", "COUNT", "1"}));
    if (reply.list.size() < 2) return std::optional<Claim>();
    const std::optional<Entry> entry = first_entry(reply.list[1].list);
    if (!entry) return std::optional<Claim>();
    {
      // There may be more of them.
      const std::lock_guard lock(mutex_);
      next_look_ = Clock::now();
    }
    return begin(worker, *entry, true);
  }

  Result<bool> end(const Claim& claim, State state, const std::string& result,
                   const std::string& error) {
    const RedisReply reply =
        TRY(script(redis_scripts::kEnd, claim.id,
                   {claim.token, std::string(name(state)), result, error, now_text(), channel_}));
    return reply.integer == 1;
  }

  Result<Done> release(const Claim& claim, const std::string& how) {
    TRY(script(redis_scripts::kRelease, claim.id,
               {claim.token, how, std::to_string(options_.limits.deaths), now_text(), channel_,
                claim.id}));
    return Done{};
  }

  // Wakes waiting threads whenever a task ended somewhere.
  void listen(RedisConnection subscription) {
    while (!stopped_) {
      const Result<RedisReply> message = subscription.next(kSliceSeconds);
      if (message.ok() && message->kind == RedisReply::Kind::Nothing) continue;
      if (!message.ok() && !subscribe_again(subscription)) continue;
      const std::lock_guard lock(mutex_);
      ++ended_count_;
      ended_.notify_all();
    }
  }

  bool subscribe_again(RedisConnection& subscription) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kSliceSeconds));
    Result<RedisConnection> another = RedisConnection::open(options_.url);
    if (!another.ok() || !another->command({"SUBSCRIBE", channel_}).ok()) return false;
    subscription = std::move(another).value();
    return true;
  }

  const RedisOptions options_;
  const std::string stream_, counts_key_, channel_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::atomic<uint64_t> ended_count_ = 0;
  std::vector<RedisConnection> free_;
  Clock::time_point next_look_ = Clock::now();
  std::atomic<bool> stopped_ = false;
  std::mt19937_64 random_{std::random_device{}()};
  std::thread listener_;
};

}  // namespace

Result<std::unique_ptr<Queue>> open_redis_queue(const RedisOptions& options) {
  auto queue = std::make_unique<RedisQueue>(options);
  TRY(queue->start());
  return std::unique_ptr<Queue>(std::move(queue));
}

}  // namespace weft::service
