// SPDX-License-Identifier: Apache-2.0

// What a user sees when a configuration is wrong: the line, the name, the nearest known name.
#include "lattice/schema/fields.h"

#include <gtest/gtest.h>

namespace weft::lattice {
namespace {

struct Settings {
  uint64_t seed = 1;
  double share = 0.5;
  double window = 0;
  std::vector<std::string> names;
  std::vector<double> windows = {60};
};

Result<Settings> read(const std::string& text, const std::string& set = {}) {
  YamlDocument document = TRY(parse_yaml(text, "a.yaml"));
  if (!set.empty()) TRY(set_value(document, set));
  Settings settings;
  Fields fields = TRY(Fields::open(document, document.root, "the configuration"));
  TRY(fields.read("seed", settings.seed, 1));
  TRY(fields.read("share", settings.share, 0, 1));
  TRY(fields.read_duration("window", settings.window));
  TRY(fields.read_durations("windows", settings.windows));
  TRY(fields.read("names", settings.names));
  TRY(fields.finish());
  return settings;
}

std::string failure(const std::string& text, const std::string& set = {}) {
  const auto result = read(text, set);
  return result.ok() ? "" : format(result.error());
}

TEST(Fields, MissingKeysKeepTheirValue) {
  const Settings settings = read("share: 0.25\nwindow: 90m\nnames: [a, b]\n").value();
  EXPECT_EQ(settings.seed, 1u);
  EXPECT_EQ(settings.share, 0.25);
  EXPECT_EQ(settings.window, 5400);
  EXPECT_EQ(settings.names, (std::vector<std::string>{"a", "b"}));
}

TEST(Fields, DurationsAreOneOrAListAndAnEmptyListKeepsThem) {
  EXPECT_EQ(read("windows: [90m, 1d]\n")->windows, (std::vector<double>{5400, 86400}));
  EXPECT_EQ(read("windows: 2h\n")->windows, (std::vector<double>{7200}));
  EXPECT_EQ(read("windows: []\n")->windows, (std::vector<double>{60}));
}

TEST(Fields, UnknownKeysAreErrorsWithLineAndNearName) {
  const std::string text = failure("share: 0.25\nsede: 7\n");
  EXPECT_NE(text.find("a.yaml:2:1"), std::string::npos) << text;
  EXPECT_NE(text.find("unknown key in the configuration: \"sede\""), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean seed"), std::string::npos) << text;
}

TEST(Fields, WrongValuesAreErrorsAtTheirLine) {
  for (const char* bad : {"seed: 0", "seed: -1", "seed: 1.5", "seed: x", "seed: [1]", "share: 1.5",
                          "share: nan", "window: 90", "windows: [1h, 90]", "names: {a: 1}"}) {
    const std::string text = failure(std::string("# first\n") + bad + "\n");
    EXPECT_NE(text.find("a.yaml:2:1"), std::string::npos) << bad << "\n" << text;
  }
}

TEST(Fields, DoubledKeysAndBrokenTextAreErrors) {
  EXPECT_NE(failure("seed: 1\nseed: 2\n").find("appears twice"), std::string::npos);
  EXPECT_NE(failure("seed: [1\n").find("not valid YAML"), std::string::npos);
  EXPECT_NE(failure("- 1\n").find("not a map"), std::string::npos);
}

TEST(Fields, TheCommandLineSetsValues) {
  EXPECT_EQ(read("share: 0.25\n", "seed=18446744073709551615").value().seed, ~uint64_t{0});
  EXPECT_NE(failure("share: 0.25\n", "sede=1").find("did you mean seed"), std::string::npos);
  EXPECT_NE(failure("share: 0.25\n", "share.x=1").find("no map"), std::string::npos);
}

}  // namespace
}  // namespace weft::lattice
