// SPDX-License-Identifier: Apache-2.0

// What a model must never be told, looked for in every prompt that the project can make.
#include "ptxbench/agent/prompt.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/problems/catalogue.h"

namespace weft::agent {
namespace {

// Lines of code in the reference that say something.
std::vector<std::string> reference_lines(const std::string& reference) {
  std::vector<std::string> lines;
  for (size_t start = 0; start < reference.size();) {
    const size_t end = std::min(reference.find('\n', start), reference.size());
    std::string line = reference.substr(start, end - start);
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.size() > 12 && !line.starts_with("import ")) lines.push_back(line);
    start = end + 1;
  }
  return lines;
}

TEST(Prompt, HasNoReferenceNoToleranceAndNoSeed) {
  const problems::Catalogue catalogue = problems::Catalogue::open("problems").value();
  const PromptBook book = PromptBook::open("prompts").value();
  std::string systems;
  for (const std::string& tag : book.tags()) systems += book.system(tag).value();
  for (const std::string& pack : book.pack_names()) systems += book.system(pack).value();
  size_t tolerances = 0;
  for (const std::string& name : catalogue.names()) {
    const problems::Task task = catalogue.task(name, "", {}).value();
    const std::string prompt = systems + task_prompt(task, "hopper");
    EXPECT_NE(prompt.find(name), std::string::npos);
    for (const std::string& line : reference_lines(task.definition.reference))
      EXPECT_EQ(prompt.find(line), std::string::npos) << name << ": " << line;
    const std::regex number("[0-9]+\\.[0-9]+(e-?[0-9]+)?");
    for (const std::string& tag : task.definition.tags) {
      if (!tag.starts_with("tolerance") && !tag.starts_with("errors")) continue;
      EXPECT_EQ(prompt.find(tag), std::string::npos);
      for (std::sregex_iterator it(tag.begin(), tag.end(), number), end; it != end; ++it) {
        ++tolerances;
        EXPECT_EQ(prompt.find(it->str()), std::string::npos) << name << ": " << tag;
      }
    }
    EXPECT_EQ(prompt.find("seed"), std::string::npos);
    EXPECT_EQ(prompt.find("olerance"), std::string::npos);
  }
  EXPECT_GT(tolerances, catalogue.names().size());
}

TEST(Prompt, TagsComposeEachPackOnce) {
  const TemporaryDirectory folder = TemporaryDirectory::create("prompts").value();
  const auto put = [&](const char* file, const char* text) {
    ASSERT_TRUE(write_file(folder.file(file), text).ok());
  };
  put("system.md", "S");
  put("contract.md", "C");
  put("packs/one.md", "pack one");
  put("packs/two.md", "pack two");
  put("tags.json", R"({"both": ["one", "two"], "none": []})");
  const PromptBook book = PromptBook::open(folder.path()).value();
  EXPECT_EQ(book.system("none").value(), "S\nC");
  EXPECT_EQ(book.system("two+both").value(), "S\nC\npack two\npack one");
  const Result<std::string> unknown = book.system("both+thre");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message().find("thre"), std::string::npos);
  EXPECT_FALSE(book.system("").ok());
  put("tags.json", R"({"both": ["three"]})");
  EXPECT_FALSE(PromptBook::open(folder.path()).ok());
}

TEST(Prompt, StatesTheTaskAtItsSizes) {
  const problems::Catalogue catalogue = problems::Catalogue::open("problems").value();
  const problems::Task task = catalogue.task("gemm_n128_k2048", "", {{"M", 16}}).value();
  const std::string text = task_prompt(task, "hopper");
  EXPECT_NE(text.find("Task: gemm_n128_k2048"), std::string::npos);
  EXPECT_NE(text.find("- M = 16: rows of A and C"), std::string::npos);
  EXPECT_NE(text.find("Hopper, sm_90a"), std::string::npos);
  EXPECT_NE(task_prompt(task, "blackwell").find("Blackwell, sm_100a"), std::string::npos);
  EXPECT_NE(text.find("- B: bfloat16 [N, K] = [128, 2048]"), std::string::npos);
}

}  // namespace
}  // namespace weft::agent
