// SPDX-License-Identifier: Apache-2.0

// From pairs to rows and back. Counts follow from the pairs that are written down here; similarity
// is counted by hand.
#include "ptxbench/sft/dataset.h"

#include <filesystem>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::sft {
namespace {

// a b c d e f: two shingles of five; b c d e f g shares one of them.
TEST(Selection, CountsSharedShingles) {
  EXPECT_EQ(shingles("a b c d e f").size(), 2u);
  EXPECT_EQ(shingles("a /* x */ b c\nd e f"), shingles("a b c d e f"));
  EXPECT_DOUBLE_EQ(jaccard(shingles("a b c d e f"), shingles("b c d e f g")), 1.0 / 3);
  EXPECT_DOUBLE_EQ(jaccard(shingles("a b"), shingles("a b")), 1);
  EXPECT_DOUBLE_EQ(jaccard({}, {}), 1);
  EXPECT_NE(shingles("ab c"), shingles("a bc"));
}

TEST(Selection, TellsRepairsByWhatChanges) {
  // The fifth of eight tokens is in all four shingles of either side.
  EXPECT_EQ(change_shingles("a b c d e f g h", "a b c d X f g h").size(), 8u);
  EXPECT_TRUE(change_shingles("a b c d e", "a b c d e").empty());
  EXPECT_NE(change_shingles("a b c d e", "a b c d X"), change_shingles("a b c d X", "a b c d e"));
}

TEST(Selection, FindsTheEarlierOfTwoAlike) {
  NearDuplicates rows(0.5);
  EXPECT_FALSE(rows.add({1, 2, 3, 4}));
  EXPECT_FALSE(rows.add({5, 6, 7, 8}));
  EXPECT_EQ(rows.add({1, 2, 3, 9}), std::optional<size_t>(0));  // 3 of 5
  EXPECT_FALSE(rows.add({1, 2, 5, 6}));                         // 2 of 6 with both
  EXPECT_EQ(rows.add({5, 6, 7, 8}), std::optional<size_t>(1));
}

constexpr const char* kRight = "void right() { one(); two(); three(); four(); five(); }\n";

class Dataset : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create("dataset");
    ASSERT_TRUE(made.ok());
    folder_.emplace(*std::move(made));
    settings_.output = folder_->path() + "/data";
    settings_.system = [](const Pair&) -> Result<std::string> {
      return std::string("You write kernels.");
    };
    settings_.task = [](const Pair& pair) -> Result<std::string> {
      return "Solve " + pair.definition + ".";
    };
    settings_.validation_share = 0;
  }

  JudgedKernel judged(const std::string& source, const std::string& status) {
    JudgedKernel kernel{.source = source, .evaluation = "", .evaluation_sha256 = "", .verdict = {}};
    const Json envelope = {{"evaluation_id", "ev_1"},
                           {"status", status},
                           {"kernel_sha256", sha256(source)},
                           {"audit", {{"stages", Json::array()}}}};
    EXPECT_TRUE(keep_evaluation(kernel, folder_->path(), envelope).ok());
    kernel.evaluation = folder_->path() + "/" + kernel.evaluation;
    return kernel;
  }

  Pair pair(const std::string& wrong, const std::string& definition = "gemm",
            const std::string& fixed = kRight) {
    Pair pair{.id = "",
              .kind = "injected",
              .definition = definition,
              .family = "gemm",
              .workload_uuid = "w-1",
              .axes = {{"M", 8}},
              .cause = "race",
              .meaning = "A wait is missing.",
              .origin = "right.cu",
              .line = 3,
              .wrong = judged(wrong, "INCORRECT_NUMERICAL"),
              .fixed = judged(fixed, "PASSED"),
              .log = "C[0] is 1, expected 2",
              .reasoning = "",
              .design = ""};
    pair.id = pair_id(pair);
    return pair;
  }

  std::optional<TemporaryDirectory> folder_;
  DatasetSettings settings_;
};

std::string without(std::string text, const std::string& part) {
  text.erase(text.find(part), part.size());
  return text;
}

TEST_F(Dataset, WritesThreeAndFiveMessages) {
  settings_.inputs["pairs.jsonl"] = "its hash";
  const auto manifest = build_dataset({pair(without(kRight, "three();"))}, settings_);
  ASSERT_TRUE(manifest.ok()) << format(manifest.error());
  const std::string text = *read_file(settings_.output + "/train.jsonl");
  const size_t line = text.find('\n') + 1;
  const Json fixit = *parse_json(text.substr(0, line)), kernelgen = *parse_json(text.substr(line));
  ASSERT_EQ(fixit["messages"].size(), 5u);
  EXPECT_EQ(fixit["messages"][0]["content"], "You write kernels.");
  EXPECT_EQ(fixit["messages"][1]["content"], "Solve gemm.");
  EXPECT_EQ(fixit["messages"][2]["content"], "```cuda\n" + without(kRight, "three();") + "```");
  EXPECT_EQ(fixit["messages"][3]["content"], "C[0] is 1, expected 2");
  EXPECT_EQ(fixit["messages"][4]["content"],
            std::string("A wait is missing. It is at line 3 of the kernel above.\n\n```cuda\n") +
                kRight + "```");
  EXPECT_EQ(fixit["error_class"], "incorrect");
  ASSERT_EQ(kernelgen["messages"].size(), 3u);
  EXPECT_EQ(kernelgen["messages"][2]["role"], "assistant");
  EXPECT_EQ((*manifest)["inputs"]["pairs.jsonl"], "its hash");
  EXPECT_EQ((*manifest)["files"]["train.jsonl"]["rows"], 2);
  EXPECT_EQ((*manifest)["files"]["train.jsonl"]["sha256"], sha256(text));
}

TEST_F(Dataset, DropsWhatIsThereTwiceWithTheReason) {
  const Pair one = pair(without(kRight, "three();"));
  const auto manifest = build_dataset({one, one, pair(without(kRight, "five();"))}, settings_);
  ASSERT_TRUE(manifest.ok());
  // Two repairs and one kernel stay; one repair and two kernels are repetitions.
  EXPECT_EQ((*manifest)["rows"].size(), 3u);
  EXPECT_EQ((*manifest)["dropped_by_reason"]["duplicate"], 3);
  EXPECT_EQ((*manifest)["dropped"][0]["reason"], "duplicate of fixit-" + one.id);
}

TEST_F(Dataset, KeepsTheExaminationOut) {
  settings_.held_out.definitions = {"mha"};
  using Shape = std::map<std::string, int64_t>;
  settings_.held_out.axes = {Shape{{"M", 9}}, Shape{{"M", 8}, {"N", 4}}};
  settings_.held_out.kernels = {{"exam.cu", shingles("void exam() { a(); b(); c(); }")}};
  settings_.kernelgen = false;
  Pair shape = pair(without(kRight, "two();"));
  shape.axes = {{"M", 9}, {"N", 2}};
  const auto manifest =
      build_dataset({pair("x", "mha"), shape, pair("void exam() { a(); b(); c(); } // mine"),
                     pair(without(kRight, "one();"))},
                    settings_);
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ((*manifest)["rows"].size(), 1u);
  EXPECT_EQ((*manifest)["dropped_by_reason"]["held out"], 3);
  EXPECT_EQ((*manifest)["dropped"][2]["reason"], "held out: kernel exam.cu");
}

TEST_F(Dataset, KeepsWholePlansOut) {
  const std::string path = folder_->path() + "/held_out.json";
  ASSERT_TRUE(write_file(folder_->path() + "/plan.json",
                         R"({"tasks": [{"definition": "mha"}, {"definition": "mla", "set": {}}]})")
                  .ok());
  ASSERT_TRUE(write_file(path, R"({"plans": ["plan.json"], "definitions": ["gdn"]})").ok());
  const auto held_out = read_held_out(path);
  ASSERT_TRUE(held_out.ok()) << format(held_out.error());
  EXPECT_EQ(contamination(*held_out, pair("x", "mha"), 0.9), "held out: definition mha");
  EXPECT_NE(contamination(*held_out, pair("x", "mla"), 0.9), "");
  EXPECT_NE(contamination(*held_out, pair("x", "gdn"), 0.9), "");
  EXPECT_EQ(contamination(*held_out, pair("x"), 0.9), "");
}

TEST_F(Dataset, BalancesCells) {
  settings_.kernelgen = false;
  settings_.most_per_cell = 1;
  const auto manifest =
      build_dataset({pair(without(kRight, "one();")), pair(without(kRight, "five();")),
                     pair(without(kRight, "three();"), "mha")},
                    settings_);
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ((*manifest)["balance"]["fixit / gemm / incorrect"]["before"], 2);
  EXPECT_EQ((*manifest)["balance"]["fixit / gemm / incorrect"]["after"], 1);
  EXPECT_EQ((*manifest)["rows"].size(), 2u);
}

TEST_F(Dataset, DividesByRightKernel) {
  settings_.kernelgen = false;
  settings_.validation_share = 0.5;
  std::vector<Pair> pairs;
  for (const char* name : {"p", "q", "r", "s"})
    for (const char* part : {"one();", "five();"}) {
      const std::string fixed = std::string("int ") + name + "; " + kRight;
      pairs.push_back(pair(without(fixed, part), std::string("gemm_") + name, fixed));
    }
  const auto manifest = build_dataset(pairs, settings_);
  ASSERT_TRUE(manifest.ok());
  std::map<std::string, std::set<std::string>> sides;
  size_t validation = 0;
  for (const Json& row : (*manifest)["rows"]) {
    sides[row["fixed"]["sha256"]].insert(row["side"].get<std::string>());
    validation += row["side"] == "validation";
  }
  EXPECT_EQ(validation, 4u);  // two of four groups of two
  for (const auto& [kernel, on] : sides) EXPECT_EQ(on.size(), 1u);
}

TEST_F(Dataset, LeadsFromARowToItsVerdicts) {
  const Pair one = pair(without(kRight, "three();"));
  ASSERT_TRUE(build_dataset({one}, settings_).ok());
  const std::string row = "fixit-" + one.id;
  auto found = audit_row(settings_.output, row);
  ASSERT_TRUE(found.ok()) << format(found.error());
  EXPECT_EQ((*found)["sound"], true) << found->dump(1);
  EXPECT_EQ((*found)["wrong"]["status"], "INCORRECT_NUMERICAL");
  EXPECT_EQ((*audit_row(settings_.output, "kernelgen-" + one.id))["sound"], true);

  // Somebody touches a verdict.
  const std::string envelope = *read_file(one.wrong.evaluation);
  ASSERT_TRUE(write_file(one.wrong.evaluation, envelope + " ").ok());
  found = audit_row(settings_.output, row);
  EXPECT_EQ((*found)["sound"], false);
  EXPECT_EQ((*found)["fixed"]["problems"].size(), 0u);
  EXPECT_EQ((*found)["wrong"]["problems"].size(), 1u);
  std::filesystem::remove(one.wrong.evaluation);
  EXPECT_EQ((*audit_row(settings_.output, row))["sound"], false);
  ASSERT_TRUE(write_file(one.wrong.evaluation, envelope).ok());

  // Somebody touches a row.
  std::string rows = *read_file(settings_.output + "/train.jsonl");
  rows.replace(rows.find("two();"), 6, "one();");
  ASSERT_TRUE(write_file(settings_.output + "/train.jsonl", rows).ok());
  found = audit_row(settings_.output, row);
  EXPECT_EQ((*found)["row_unchanged"], false);
  EXPECT_EQ((*found)["sound"], false);

  EXPECT_NE(format(audit_row(settings_.output, "fixit-0").error()).find("no such row"),
            std::string::npos);
  EXPECT_FALSE(audit_row(folder_->path() + "/nowhere", row).ok());
  ASSERT_TRUE(write_file(settings_.output + "/manifest.json", "{\"rows\": 3}").ok());
  EXPECT_FALSE(audit_row(settings_.output, row).ok());
}

TEST_F(Dataset, FiltersPairs) {
  Pair slow = pair("a"), fast = pair("a", "gemm", "fast fix;\n"), plain = pair("b");
  slow.fixed.verdict.speedup = 0.5;
  fast.fixed.verdict.speedup = 0.9;
  for (Pair* one : {&slow, &fast}) {
    one->fixed.verdict.audited = true;
    one->fixed.verdict.arch_tag = "H";
  }
  const std::vector<Pair> pairs = {fast, slow, plain};
  EXPECT_EQ(select(pairs, {}).pairs.size(), 3u);
  EXPECT_EQ(select(pairs, {.family = "H"}).pairs.size(), 2u);
  EXPECT_EQ(select(pairs, {.minimum_speedup = 0.8}).pairs.size(), 1u);
  EXPECT_EQ(select(pairs, {.status = "COMPILE_ERROR"}).pairs.size(), 0u);
  const Selected best = select(pairs, {.keep = Keep::Best});
  ASSERT_EQ(best.pairs.size(), 2u);
  EXPECT_EQ(best.pairs[0].id, fast.id);
  EXPECT_EQ(best.dropped[0].first, slow.id);
  EXPECT_EQ(select(pairs, {.keep = Keep::Latest}).pairs[0].id, slow.id);
}

TEST_F(Dataset, NamesBadFiles) {
  const std::string path = folder_->path() + "/held_out.json";
  for (const char* text : {"[]", "{\"definition\": []}", "{\"axes\": [{\"M\": \"x\"}]}",
                           "{\"kernels\": [\"none.cu\"]}", "{\"plans\": [\"none.json\"]}", "{"}) {
    ASSERT_TRUE(write_file(path, text).ok());
    EXPECT_FALSE(read_held_out(path).ok()) << text;
  }
  ASSERT_TRUE(write_file(folder_->path() + "/pairs.jsonl", "{}\n").ok());
  const auto pairs = read_pairs(folder_->path() + "/pairs.jsonl");
  ASSERT_FALSE(pairs.ok());
  EXPECT_NE(format(pairs.error()).find("pairs.jsonl:1"), std::string::npos);
}

}  // namespace
}  // namespace weft::sft
