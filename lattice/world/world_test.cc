// SPDX-License-Identifier: Apache-2.0

// Expected values come from the definition of the world: rates that are asked for, overlaps of the
// intervals, delays of exponential laws, and labels that must agree with their probabilities.
#include "lattice/world/world.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/table/database.h"
#include "base/table/sql_text.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "lattice/world/model.h"
#include "lattice/world/truth.h"

namespace weft::lattice {
namespace {

WorldConfiguration small_world() {
  WorldConfiguration world = world_preset("ads-small").value();
  world.impressions = 20'000;
  world.users = 2'000;
  world.items = 1'000;
  world.part_rows = 7'000;
  return world;
}

struct Made {
  TemporaryDirectory folder = TemporaryDirectory::create("world").value();
  Json summary;
};

Made make(const WorldConfiguration& world, unsigned workers) {
  Made made;
  RunFolder run =
      RunFolder::open(made.folder.file("w"), {.verb = "world", .configuration = to_json(world)})
          .value();
  made.summary = write_world(world, run, {.workers = workers}).value();
  return made;
}

const Made& shared_world() {
  static const Made made = make(small_world(), 2);
  return made;
}

std::vector<std::string> ask(const std::string& sql) {
  std::string text = sql;
  for (const char* name : {"impressions", "events", "feedback", "truth"}) {
    const std::string mark = std::string("{") + name + "}";
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, mark.size(),
                   "read_parquet(" +
                       table::quoted_text(
                           shared_world().folder.file(std::string("w/") + name + "/*.parquet")) +
                       ")");
  }
  return table::Database::open().value().row(text).value();
}

TEST(World, IsTheSameForAnyNumberOfWorkers) {
  const Made alone = make(small_world(), 1);
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(alone.folder.file("w"))) {
    const std::string name = entry.path().lexically_relative(alone.folder.file("w")).string();
    if (!entry.is_regular_file() || name == "outputs.jsonl" || name == "run.lock") continue;
    ++files;
    EXPECT_EQ(sha256(read_file(entry.path().string()).value()),
              sha256(read_file(shared_world().folder.file("w/" + name)).value()))
        << name;
  }
  EXPECT_GE(files, 14);
}

TEST(World, AnotherSeedIsAnotherWorld) {
  WorldConfiguration world = small_world();
  world.seed = 2;
  const Made other = make(world, 2);
  EXPECT_NE(read_file(other.folder.file("w/feedback/part-00000.parquet")).value(),
            read_file(shared_world().folder.file("w/feedback/part-00000.parquet")).value());
}

TEST(World, ImpressionsComeInOrderOfTimeWithTheirOwnIds) {
  const auto row =
      ask("SELECT count(*), count(DISTINCT impression_id), "
          "count(*) FILTER (event_time < before), min(event_time) >= TIMESTAMP '2025-01-01', "
          "max(event_time) < TIMESTAMP '2025-01-31' FROM (SELECT *, lag(event_time) OVER (ORDER BY "
          "impression_id) "
          "AS before FROM {impressions})");
  EXPECT_EQ(row, (std::vector<std::string>{"20000", "20000", "0", "true", "true"}));
}

TEST(World, RatesAreThoseThatWereAskedFor) {
  for (const Json& portfolio : shared_world().summary["portfolios"]) {
    const double wanted = portfolio["objective"] == "click"  ? 0.08
                          : portfolio["objective"] == "cart" ? 0.03
                                                             : 0.02;
    const Json& ever = portfolio["windows"].back();
    EXPECT_NEAR(ever["rate"].get<double>(), wanted, 0.15 * wanted) << portfolio;
    // Five standard deviations of a binomial count.
    const double rows = ever["rows"].get<double>(), rate = ever["rate"].get<double>();
    EXPECT_NEAR(ever["conversions"].get<double>(), rows * rate, 5 * std::sqrt(rows * rate));
    EXPECT_LT(ever["bayes_ne"].get<double>(), 0.97);
    EXPECT_GT(ever["bayes_ne"].get<double>(), 0.5);
    EXPECT_NEAR(ever["bayes_ne"].get<double>(), ever["realized_ne"].get<double>(), 0.12)
        << portfolio;
  }
}

TEST(World, LabelsAgreeWithTheirProbabilitiesInEveryTenth) {
  // Calibration of the truth itself, by deciles of the probability of a click.
  const auto row = ask(
      "SELECT max(abs(c - p) / sqrt(p)) FROM (SELECT sum(converted_click) AS c, sum(p_click) AS p "
      "FROM (SELECT *, ntile(10) OVER (ORDER BY p_click) AS t FROM {truth}) GROUP BY t)");
  EXPECT_LT(std::stod(row[0]), 4.5);
}

TEST(World, FeedbackIsTheTruthThatArrivedInTime) {
  const auto row = ask(
      "SELECT count(*) FILTER (NOT i.impression_id = f.impression_id OR i.user_id <> f.user_id), "
      "count(*) FILTER (f.event_time < i.event_time), count(*) FILTER (f.arrival_time < "
      "f.event_time), "
      "count(*) FILTER (f.arrival_time >= TIMESTAMP '2025-01-31') "
      "FROM {feedback} f JOIN {impressions} i USING (impression_id)");
  EXPECT_EQ(row, (std::vector<std::string>{"0", "0", "0", "0"}));
  const auto counts =
      ask("SELECT (SELECT count(DISTINCT event_id) FROM {feedback} WHERE refund_of IS NULL) - "
          "(SELECT sum(converted_click + converted_cart + converted_purchase) FROM {truth}), "
          "(SELECT count(*) - count(DISTINCT event_id) > 0 FROM {feedback}), "
          "(SELECT count(refund_of) > 0 FROM {feedback})");
  EXPECT_LT(std::stoll(counts[0]), 0) << "some conversions come after the end";
  EXPECT_EQ(counts[1], "true");
  EXPECT_EQ(counts[2], "true");
}

TEST(World, DelaysFollowTheirLaw) {
  // An exponential law of mean three hours has 1 - 1/e below its mean.
  const auto row =
      ask("SELECT avg(delay_seconds_cart), avg((delay_seconds_cart < 10800)::INT), "
          "count(delay_seconds_cart), max(delay_seconds_click) FROM {truth}");
  const double count = std::stod(row[2]);
  EXPECT_NEAR(std::stod(row[0]), 10800, 5 * 10800 / std::sqrt(count));
  EXPECT_NEAR(std::stod(row[1]), 0.632, 5 * 0.48 / std::sqrt(count));
  EXPECT_LE(std::stod(row[3]), 30);
  EXPECT_NEAR(share_within({.delay = {{1, 10800}}}, 10800), 0.63212, 1e-5);
  EXPECT_NEAR(share_within({.delay = {{1, 3600}, {3, 0}}}, 3600), 0.75 + 0.25 * 0.63212, 1e-5);
}

TEST(World, DomainsOverlapAsTheirIntervals) {
  // feed [0, 0.7) and stories [0.1, 0.8): 0.6 of 0.8; feed and search [0.5, 1): 0.2 of 1.
  const Json& overlaps = shared_world().summary["overlaps"];
  EXPECT_NEAR(overlaps[0]["user_jaccard"].get<double>(), 0.75, 0.03);
  EXPECT_NEAR(overlaps[1]["user_jaccard"].get<double>(), 0.20, 0.03);
}

TEST(World, FeaturesOfADomainAreNullElsewhereAndOthersSometimes) {
  const auto row =
      ask("SELECT count(in_feed_0) FILTER (domain <> 'feed'), avg((in_feed_0 IS NULL)::INT) FILTER "
          "(domain = 'feed'), "
          "avg((shared_0 IS NULL)::INT), min(shared_1) > 0 FROM {impressions}");
  EXPECT_EQ(row[0], "0");
  EXPECT_NEAR(std::stod(row[1]), 0.03, 0.01);
  EXPECT_NEAR(std::stod(row[2]), 0.03, 0.007);
  EXPECT_EQ(row[3], "true");
}

TEST(World, NewItemsAppearAndIdsUseAllBits) {
  const auto row = ask(
      "SELECT count(*) > 20, (SELECT max(item_id) > 9223372036854775807 FROM {impressions}) FROM "
      "(SELECT item_id FROM {impressions} GROUP BY item_id HAVING min(event_time) > TIMESTAMP "
      "'2025-01-16' AND "
      "count(*) > 3)");
  EXPECT_EQ(row, (std::vector<std::string>{"true", "true"}));
}

TEST(World, TruthOfAWindowByHand) {
  WorldConfiguration world = small_world();
  world.domains.resize(1);
  world.objectives = {{.name = "buy", .delay = {{1, 3600}}}};
  world.windows = {3600};
  Truth truth(world);
  truth.add(0, 0, 0.5, 100);   // within the hour
  truth.add(0, 0, 0.5, 7200);  // later
  truth.add(0, 0, 0.25, -1);   // never
  const Json windows = truth.to_json()[0]["windows"];
  EXPECT_EQ(windows[0]["conversions"], 1);
  EXPECT_EQ(windows[1]["conversions"], 2);
  EXPECT_NEAR(windows[1]["rate"].get<double>(), 1.25 / 3, 1e-12);
  // (2 ln 2 + 0.5623351) / 3
  EXPECT_NEAR(windows[1]["bayes_logloss"].get<double>(), 0.6495431, 1e-6);
  EXPECT_NEAR(windows[0]["rate"].get<double>(), 0.6321206 * 1.25 / 3, 1e-6);
}

TEST(World, MissingPartsAreMadeAgain) {
  Made made = make(small_world(), 2);
  const std::string lost = made.folder.file("w/impressions/part-00001.parquet");
  const std::string whole = read_file(lost).value();
  ASSERT_TRUE(write_file(lost, whole.substr(0, whole.size() / 2)).ok());
  std::filesystem::remove(made.folder.file("w/truth/part-00001.json"));
  const WorldConfiguration world = small_world();
  RunFolder run =
      RunFolder::open(made.folder.file("w"), {.verb = "world", .configuration = to_json(world)})
          .value();
  EXPECT_FALSE(run.complete());
  ASSERT_TRUE(write_world(world, run).ok());
  EXPECT_EQ(read_file(lost).value(), whole);
}

TEST(World, ADomainWithoutUsersIsAnError) {
  WorldConfiguration world = small_world();
  world.users = 3;
  world.domains[0].users = {0.5, 0.5000001};
  const auto model = WorldModel::create(world);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message().find("feed has no users"), std::string::npos);
}

TEST(World, TheConfigurationReadsBack) {
  const Json json = to_json(small_world());
  const YamlDocument document = parse_yaml(to_text(json), "configuration.yaml").value();
  EXPECT_EQ(to_json(read_world(document, document.root).value()), json);
  const YamlDocument wrong =
      parse_yaml("domains:\n  feed: {conflict_degree: 5}\n", "w.yaml").value();
  const auto refused = read_world(wrong, wrong.root);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(format(refused.error()).find("did you mean conflict_degrees"), std::string::npos);
}

}  // namespace
}  // namespace weft::lattice
