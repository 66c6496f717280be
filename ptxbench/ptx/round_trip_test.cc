// SPDX-License-Identifier: Apache-2.0

// Printing then parsing gives the same program: for the seeds, and for text that the instruction
// table generates, which also shows that the parser accepts every row.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "ptxbench/isa/catalogue.h"
#include "ptxbench/ptx/instruction_generator.h"
#include "ptxbench/ptx/parse.h"
#include "ptxbench/ptx/print.h"

namespace weft::ptx {
namespace {

// Compares what positions do not change.
void expect_same_instruction(const Instruction& a, const Instruction& b) {
  EXPECT_EQ(a.form, b.form);
  EXPECT_EQ(a.spelling(), b.spelling());
  EXPECT_EQ(a.types, b.types);
  EXPECT_EQ(a.space, b.space);
  EXPECT_EQ(a.line, b.line);
  ASSERT_EQ(a.operands.size(), b.operands.size());
  for (std::size_t i = 0; i < a.operands.size(); ++i) {
    EXPECT_EQ(a.operands[i].value.index(), b.operands[i].value.index());
  }
}

void expect_same_program(const Module& a, const Module& b) {
  EXPECT_EQ(a.version_major, b.version_major);
  EXPECT_EQ(a.version_minor, b.version_minor);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.address_size, b.address_size);
  EXPECT_EQ(a.sections, b.sections);
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (std::size_t i = 0; i < a.variables.size(); ++i) {
    EXPECT_EQ(a.variables[i].name, b.variables[i].name);
    EXPECT_EQ(a.variables[i].size(), b.variables[i].size());
    EXPECT_EQ(a.variables[i].alignment, b.variables[i].alignment);
    EXPECT_EQ(a.variables[i].initial, b.variables[i].initial);
    EXPECT_EQ(a.variables[i].linkage, b.variables[i].linkage);
  }
  ASSERT_EQ(a.functions.size(), b.functions.size());
  for (std::size_t f = 0; f < a.functions.size(); ++f) {
    const Function& one = a.functions[f];
    const Function& other = b.functions[f];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.registers.size(), other.registers.size());
    EXPECT_EQ(one.parameters.size(), other.parameters.size());
    ASSERT_EQ(one.body.size(), other.body.size());
    for (std::size_t s = 0; s < one.body.size(); ++s) {
      ASSERT_EQ(one.body[s].index(), other.body[s].index());
      const auto* instruction = std::get_if<Instruction>(&one.body[s]);
      if (instruction != nullptr)
        expect_same_instruction(*instruction, std::get<Instruction>(other.body[s]));
    }
  }
}

void expect_round_trip(const std::string& text, const std::string& name) {
  const auto first = parse(text, name);
  ASSERT_TRUE(first.ok()) << format(first.error());
  const std::string printed = print(**first);
  const auto second = parse(printed, name + " (printed)");
  ASSERT_TRUE(second.ok()) << format(second.error());
  expect_same_program(**first, **second);
  EXPECT_EQ(print(**second), printed);
}

TEST(RoundTrip, SeedsStayTheSamePrograms) {
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/ptx_parse")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    expect_round_trip(text.str(), entry.path().string());
  }
}

std::string first_target(const isa::Form& form) {
  return std::string(form.targets.substr(0, form.targets.find(' ')));
}

TEST(RoundTrip, EveryWordOfEveryRowParses) {
  for (const isa::Chapter& chapter : isa::chapters()) {
    std::map<std::string, std::vector<std::string>> by_target;
    for (const isa::Form& form : chapter.forms) {
      if (form.opcode == "call") continue;  // its operands are names, not registers
      for (std::size_t i = 0; i < variant_count(form); ++i)
        by_target[first_target(form)].push_back(variant(form, i));
    }
    for (const auto& [target, instructions] : by_target) {
      expect_round_trip(module_of(instructions, target),
                        std::string(chapter.name) + " for " + target);
    }
  }
}

TEST(RoundTrip, RandomInstructionsOfEveryRowParse) {
  constexpr uint64_t kSeed = 7;
  Random random(kSeed);
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  for (const isa::Chapter& chapter : isa::chapters()) {
    std::map<std::string, std::vector<std::string>> by_target;
    for (const isa::Form& form : chapter.forms) {
      if (form.opcode == "call") continue;
      for (int i = 0; i < 5; ++i)
        by_target[first_target(form)].push_back(random_instruction(form, random));
    }
    for (const auto& [target, instructions] : by_target) {
      expect_round_trip(module_of(instructions, target),
                        std::string(chapter.name) + " for " + target);
    }
  }
}

}  // namespace
}  // namespace weft::ptx
