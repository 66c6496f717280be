// SPDX-License-Identifier: Apache-2.0

// From raw files to shards by the program itself. Expected counts come from the files: those of UCI
// Adult are counted with awk (see AdultFromRawFilesToShards).
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/subprocess.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "lattice/data/reader.h"

namespace weft::lattice {
namespace {

namespace files = std::filesystem;

const std::vector<std::string> kTiny = {
    "--set", "world.impressions=20000", "--set", "world.users=2000", "--set", "world.items=500"};

class StepsTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("steps").value();

  std::string at(const std::string& name) const { return folder_.file(name); }
  static std::vector<std::string> with_tiny(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), kTiny.begin(), kTiny.end());
    return arguments;
  }
  static ProcessOutcome lattice(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), LATTICE_PROGRAM);
    return run({.arguments = std::move(arguments), .limits = {.seconds = 300}}).value();
  }
  // What a step left, but for what names a time or a command.
  static std::vector<std::string> outputs(const std::string& folder) {
    const Json manifest = read_json(folder + "/manifest.json").value();
    std::vector<std::string> lines;
    for (const Json& output : manifest["outputs"]) lines.push_back(to_line(output));
    return lines;
  }
};

TEST_F(StepsTest, AWorldToShardsInOneCommandAndAgainInNoTime) {
  const std::vector<std::string> arguments =
      with_tiny({"run", "examples/ads-small/lattice.yaml", "--until", "ingest", "--json", "--out",
                 at("run")});
  const ProcessOutcome first = lattice(arguments);
  ASSERT_TRUE(first.passed()) << first.errors;
  const Json report = parse_json(first.output).value();
  std::vector<std::string> names;
  for (const Json& step : report["steps"]) names.push_back(step["step"]);
  EXPECT_EQ(names.front(), "world");
  EXPECT_NE(std::find(names.begin(), names.end(), "zip"), names.end());

  // Every portfolio is in exactly one group.
  const Json partition = read_json(at("run/partition/partition.json")).value();
  size_t members = 0;
  for (const Json& group : partition["groups"]) members += group["portfolios"].size();
  EXPECT_EQ(members, 9u);
  EXPECT_EQ(partition["portfolios"].size(), 9u);

  // Each impression is zipped exactly once, and each shard row is one of them.
  const Json zip = read_json(at("run/zip/manifest.json")).value()["summary"];
  EXPECT_EQ(zip["impressions"], 20000);
  EXPECT_EQ(zip["mature"].get<int>() + zip["pending"].get<int>(), 20000);
  const ShardSet train = ShardSet::open(at("run/ingest"), "train").value();
  EXPECT_EQ(train.index().windows, (std::vector<double>{5400, 86400, 604800}));
  EXPECT_EQ(train.index().domains, (std::vector<std::string>{"feed", "search", "stories"}));
  ASSERT_EQ(train.index().labels.size(), 3u);
  EXPECT_FALSE(train.index().labels[0].windowed) << "clicks come at once";
  EXPECT_TRUE(train.index().labels[2].windowed);
  Batch batch;
  BatchStream stream(train, {.batch_rows = 100'000});
  ASSERT_TRUE(stream.next(batch));
  EXPECT_EQ(batch.rows, train.rows());
  std::sort(batch.id.begin(), batch.id.end());
  EXPECT_EQ(std::adjacent_find(batch.id.begin(), batch.id.end()), batch.id.end());
  EXPECT_FALSE(batch.sequence.empty());
  for (size_t t = 0; t < train.index().tables.size(); ++t)
    for (uint64_t r = 0; r < batch.rows; ++r) {
      ASSERT_GT(batch.categorical[t * batch.rows + r], kPadding);
      ASSERT_LT(batch.categorical[t * batch.rows + r],
                static_cast<int32_t>(train.index().tables[t].rows));
    }

  const ProcessOutcome inspection = lattice({"inspect", at("run/world/lattice.yaml"), "--json"});
  EXPECT_EQ(inspection.exit_code, 0) << inspection.errors;
  EXPECT_EQ(parse_json(inspection.output).value()["portfolios"].size(), 9u);

  const auto written = files::last_write_time(at("run/ingest/index.json"));
  const ProcessOutcome second = lattice(arguments);
  EXPECT_EQ(second.output, first.output);
  EXPECT_EQ(files::last_write_time(at("run/ingest/index.json")), written);
}

TEST_F(StepsTest, TheSameFilesForAnyNumberOfWorkers) {
  for (const char* workers : {"1", "3"}) {
    const ProcessOutcome done =
        lattice(with_tiny({"run", "examples/ads-small/lattice.yaml", "--until", "ingest",
                           "--workers", workers, "--out", at(workers)}));
    ASSERT_TRUE(done.passed()) << done.errors;
  }
  for (const char* step : {"world", "partition", "zip", "ingest"})
    EXPECT_EQ(outputs(at("1/") + step), outputs(at("3/") + step)) << step;
}

// awk -F', ' on adult.data and adult.test (without its first line): rows, rows with >50K, with
// Never-married, with Female.
TEST_F(StepsTest, AdultFromRawFilesToShards) {
  const ProcessOutcome done = lattice(
      {"run", "examples/adult/lattice.yaml", "--until", "ingest", "--json", "--out", at("run")});
  ASSERT_TRUE(done.passed()) << done.errors;
  const Json index = read_json(at("run/ingest/index.json")).value();
  const Json &train = index["splits"]["train"], &test = index["splits"]["test"];
  EXPECT_EQ(train["rows"], 32561);
  EXPECT_EQ(train["positives"]["income"], 7841);
  EXPECT_EQ(train["positives"]["marital_status"], 10683);
  EXPECT_EQ(train["domain_rows"]["Female"], 10771);
  EXPECT_EQ(test["rows"], 16281);
  EXPECT_EQ(test["positives"]["income"], 3846);
  EXPECT_EQ(test["positives"]["marital_status"], 5434);
  EXPECT_EQ(test["domain_rows"]["Female"], 5421);
  const ShardSet set = ShardSet::open(at("run/ingest"), "test").value();
  EXPECT_EQ(set.rows(), 16281u);
  EXPECT_EQ(set.index().labels[0].name, "income");
}

TEST_F(StepsTest, InterruptedAnywhereAStepGoesOnToTheSameFiles) {
  const std::vector<std::string> arguments =
      with_tiny({"run", "examples/ads-small/lattice.yaml", "--until", "ingest", "--set",
                 "world.part_rows=2000"});
  const auto to = [&](const std::string& out) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--out", at(out)});
    return all;
  };
  ASSERT_TRUE(lattice(to("whole")).passed());
  // Ctrl-C after more and more time, until a start gets to its end.
  int interrupted = 0;
  for (int milliseconds = 150;; milliseconds += 150) {
    std::vector<std::string> words = to("cut");
    words.insert(words.begin(), LATTICE_PROGRAM);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const int quiet = open("/dev/null", O_WRONLY);
      dup2(quiet, STDOUT_FILENO);
      dup2(quiet, STDERR_FILENO);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    usleep(static_cast<useconds_t>(milliseconds) * 1000);
    kill(child, SIGINT);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
      break;
    }
    ASSERT_EQ(WTERMSIG(status), SIGINT);
    ++interrupted;
  }
  EXPECT_GT(interrupted, 0);
  for (const char* step : {"world", "partition", "zip", "ingest"}) {
    EXPECT_EQ(outputs(at("cut/") + step), outputs(at("whole/") + step)) << step;
    for (const auto& entry : files::recursive_directory_iterator(at("cut/") + step))
      EXPECT_NE(entry.path().extension(), ".draft") << entry.path();
  }
}

// Writing more than a limit fails as it does on a full disk: an error, not a signal.
TEST_F(StepsTest, AFullDiskIsAnErrorAndNothingHalfWrittenIsTrusted) {
  const auto limited = [&](const std::string& kilobytes, std::vector<std::string> step) {
    std::vector<std::string> words = {"bash", "-c",
                                      "trap '' XFSZ; ulimit -f " + kilobytes + "; exec \"$@\"",
                                      "bash", LATTICE_PROGRAM};
    words.insert(words.end(), step.begin(), step.end());
    return run({.arguments = std::move(words), .limits = {.seconds = 300}}).value();
  };
  const std::string world = at("world"), zip = at("zip"), shards = at("shards");
  struct Step {
    std::vector<std::string> words;
    std::string out, kilobytes, named;
  };
  const std::vector<Step> steps = {
      {with_tiny({"world", "--out", world}), world, "100", "parquet"},
      {{"zip", world + "/lattice.yaml", "--out", zip}, zip, "40", "zip/"},
      {{"ingest", world + "/lattice.yaml", "--set", "data.zipped=" + zip, "--out", shards},
       shards,
       "100",
       "shard-00000.safetensors"}};
  for (const Step& step : steps) {
    const ProcessOutcome full = limited(step.kilobytes, step.words);
    EXPECT_EQ(full.exit_code, 2) << full.describe();
    EXPECT_NE(full.errors.find(step.named), std::string::npos) << full.errors;
    EXPECT_FALSE(files::exists(step.out + "/manifest.json")) << step.out;
    const ProcessOutcome done = limited("unlimited", step.words);
    EXPECT_TRUE(done.passed()) << done.errors;
  }
  EXPECT_TRUE(ShardSet::open(shards, "train").ok());
}

TEST_F(StepsTest, UsageErrors) {
  ASSERT_TRUE(write_file(at("wrong.yaml"), "wrold: {}\n").ok());
  const ProcessOutcome unknown = lattice({"world", at("wrong.yaml"), "--out", at("w")});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.errors.find("wrong.yaml:1"), std::string::npos) << unknown.errors;
  EXPECT_NE(unknown.errors.find("world"), std::string::npos) << unknown.errors;
  EXPECT_EQ(lattice({"wrold"}).exit_code, 2);
  ASSERT_TRUE(write_file(at("empty.yaml"), "{}\n").ok());
  EXPECT_NE(lattice({"run", at("empty.yaml")}).errors.find("names no step"), std::string::npos);
  const ProcessOutcome doctor = lattice({"doctor", "--json"});
  EXPECT_TRUE(parse_json(doctor.output).value()["healthy"].is_boolean());
}

}  // namespace
}  // namespace weft::lattice
