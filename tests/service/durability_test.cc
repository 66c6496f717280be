// SPDX-License-Identifier: Apache-2.0

// What happens to tasks when they are cancelled, workers die, the server stops, or the queue is
// full: none is lost and none judged twice.
#include <signal.h>

#include "tests/service/running_service.h"

namespace weft::service_test {
namespace {

TEST_F(ServiceTest, CancelEndsWaitingAndRunningTasks) {
  start();
  const std::string running = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(running) != 0; });
  const std::string waiting = submit(question());
  EXPECT_EQ(parsed(client().remove("/tasks/" + waiting).value())["status"], "cancelled");
  EXPECT_EQ(parsed(client().remove("/tasks/" + running).value())["status"], "cancelled");
  // The worker is free for others again.
  Json other = question();
  other["trials"] = 1;
  const std::string next = submit(other);
  EXPECT_EQ(finished(next)["status"], "completed");
  EXPECT_EQ(client().remove("/tasks/" + next).value().status, 409);
  EXPECT_EQ(client().remove("/tasks/unknown").value().status, 404);
}

TEST_F(ServiceTest, AKilledWorkerLosesNothing) {
  start({"--workers", "1"});
  const std::string task = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(task) != 0; });
  const pid_t first = worker_of(task);
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  until([&] { return worker_of(task) != 0 && worker_of(task) != first; });
  const Json answer = parsed(get("/tasks/" + task));
  EXPECT_EQ(answer["attempts"], 2);
  EXPECT_NE(answer.value("history", "").find("signal 9"), std::string::npos) << answer;
}

TEST_F(ServiceTest, ATaskThatKillsWorkersFailsWithTheEvidence) {
  start({"--workers", "1", "--attempts", "2"});
  const std::string poison = submit(question("tests/service/forever.ptx"));
  for (int i = 0; i < 2; ++i) {
    until([&] { return worker_of(poison) != 0; });
    const pid_t worker = worker_of(poison);
    ASSERT_GT(worker, 0);
    kill(worker, SIGKILL);
    until([&] { return worker_of(poison) != worker; });
  }
  const Json task = finished(poison);
  EXPECT_EQ(task["status"], "failed");
  EXPECT_NE(task.value("error", "").find("attempt 2"), std::string::npos) << task;
  EXPECT_EQ(finished(submit(question()))["status"], "completed");
}

TEST_F(ServiceTest, ARestartLosesNothing) {
  start({"--workers", "1"});
  const std::string done = submit(question());
  const Json verdict = finished(done);
  const std::string running = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(running) != 0; });
  Json other = question();
  other["trials"] = 1;
  const std::string waiting = submit(other);
  EXPECT_EQ(server_->stop(SIGKILL), -SIGKILL);
  start({"--workers", "2"});
  EXPECT_EQ(finished(done)["verdicts"], verdict["verdicts"]);
  EXPECT_EQ(finished(waiting)["status"], "completed");
  until([&] { return worker_of(running) != 0; });
  EXPECT_EQ(parsed(get("/tasks/" + running))["attempts"], 2);
}

TEST_F(ServiceTest, StopsCleanlyAndKeepsWhatWaits) {
  start({"--workers", "1"});
  const std::string running = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(running) != 0; });
  EXPECT_EQ(parsed(post("/shutdown", Json::object()))["status"], "shutting_down");
  EXPECT_EQ(server_->wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.file("store/scratch")) ||
              !std::filesystem::exists(folder_.file("store/scratch")));
  start();
  EXPECT_EQ(server_->stop(SIGTERM), 0);
}

TEST_F(ServiceTest, AFullQueueAsksToComeBack) {
  start({"--workers", "1", "--queue-limit", "1"});
  const std::string running = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(running) != 0; });
  submit(question());
  Json other = question();
  other["trials"] = 1;
  const http::Answer refused = post("/evaluate", other);
  EXPECT_EQ(refused.status, 429);
  EXPECT_GE(std::stoi(refused.retry_after), 1);
  // What is known already is no more load.
  EXPECT_EQ(post("/evaluate", question()).status, 200);
}

}  // namespace
}  // namespace weft::service_test
