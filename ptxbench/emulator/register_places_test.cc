// SPDX-License-Identifier: Apache-2.0

// Which registers share a place, by looking at small programs.

#include "ptxbench/emulator/register_places.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ptxbench/emulator/flow_graph.h"
#include "ptxbench/isa/catalogue.h"
#include "ptxbench/ptx/instruction_generator.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

// Registers: %p1 is 0, %r0 .. %r7 are 1 .. 8.
std::vector<uint32_t> places(const std::string& body) {
  const auto module = ptx::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel()\n{\n"
      ".reg .pred %p1;\n.reg .b32 %r<8>;\n" +
          body + "\n}\n",
      "test.ptx");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : format(module.error()));
  return module.ok() ? register_places((*module)->functions[0]) : std::vector<uint32_t>(9);
}

TEST(RegisterPlaces, AValueTakesThePlaceOfOneThatIsDead) {
  const auto place = places("mov.u32 %r0, 1;\nadd.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\nret;");
  EXPECT_NE(place[2], place[1]);  // a result never takes the place of its operand
  EXPECT_EQ(place[3], place[1]);
}

TEST(RegisterPlaces, ValuesAliveTogetherStayApart) {
  const auto place = places(
      "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nadd.u32 %r2, %r0, 1;\nadd.u32 %r3, %r1, %r2;\nret;");
  EXPECT_NE(place[1], place[2]);
  EXPECT_NE(place[3], place[2]);
  EXPECT_NE(place[3], place[1]);
}

TEST(RegisterPlaces, AValueReadInALoopLivesThroughAllOfIt) {
  const auto place = places(
      "mov.u32 %r0, 1;\nLOOP:\nadd.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\n"
      "setp.lt.u32 %p1, %r2, 9;\n@%p1 bra LOOP;\nmov.u32 %r3, 4;\nadd.u32 %r4, %r3, 1;\nret;");
  EXPECT_NE(place[2], place[1]);
  EXPECT_NE(place[3], place[1]);
  EXPECT_LE(place[4], 3u);  // behind the loop the places are free again
}

TEST(RegisterPlaces, AGuardedWriteKeepsWhatWasThere) {
  // %r0 is written by all, then by some: it lives from the first write on.
  const auto place = places(
      "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nadd.u32 %r2, %r1, 1;\nsetp.lt.u32 %p1, %r2, 9;\n"
      "@%p1 mov.u32 %r0, 3;\nadd.u32 %r3, %r0, 1;\nret;");
  EXPECT_NE(place[2], place[1]);
  EXPECT_NE(place[3], place[1]);
}

TEST(RegisterPlaces, OtherInstructionsKeepTheirRegistersForThemselves) {
  const auto place =
      places("mov.u32 %r0, 1;\nbar.sync %r0;\nmov.u32 %r1, 2;\nadd.u32 %r2, %r1, 1;\nret;");
  EXPECT_EQ(place[1], 1u);
  EXPECT_NE(place[2], 1u);
  EXPECT_NE(place[3], 1u);
}

TEST(RegisterPlaces, IndirectBranchesAreFollowed) {
  // %r1 is read at B, where the branch may go; at A it is dead.
  const auto place = places(
      "mov.u32 %r0, 0;\nmov.u32 %r1, 1;\nts: .branchtargets A, B;\nbrx.idx %r0, ts;\n"
      "A:\nmov.u32 %r2, 2;\nadd.u32 %r3, %r2, 1;\nret;\nB:\nadd.u32 %r4, %r1, 1;\nret;");
  EXPECT_NE(place[3], place[2]);
  EXPECT_NE(place[4], place[2]);
}

// Calls f for each variant of each row of the instruction table, as it is parsed.
template <typename F>
void each_instruction(const F& f) {
  for (const isa::Chapter& chapter : isa::chapters())
    for (const isa::Form& form : chapter.forms) {
      if (form.opcode == "call") continue;  // its operands are names
      std::vector<std::string> texts;
      for (size_t k = 0; k < ptx::variant_count(form); ++k) texts.push_back(ptx::variant(form, k));
      const std::string target(form.targets.substr(0, form.targets.find(' ')));
      const auto module = ptx::parse(ptx::module_of(texts, target), "table.ptx");
      ASSERT_TRUE(module.ok()) << format(module.error());
      for (const ptx::Function& function : (*module)->functions)
        for (const ptx::Statement& statement : function.body)
          if (const auto* i = std::get_if<ptx::Instruction>(&statement);
              i != nullptr && i->opcode == form.opcode)
            f(*i);
    }
}

TEST(RegisterPlaces, InstructionsThatGoOnBehindTheWarpAreNotPlain) {
  // Those that the manual calls asynchronous (PTX ISA 9.0: 9.7.9.25 and later, 9.7.15, 9.7.16).
  using enum isa::InstructionFamily;
  const std::set<isa::InstructionFamily> asynchronous = {AsyncCopy, BulkCopy, TensorCopy, Wgmma,
                                                         Tcgen05};
  std::set<isa::InstructionFamily> seen;
  each_instruction([&](const ptx::Instruction& i) {
    if (!asynchronous.contains(i.form->family)) return;
    seen.insert(i.form->family);
    EXPECT_FALSE(is_plain(i)) << i.spelling();
  });
  EXPECT_EQ(seen, asynchronous);
}

TEST(RegisterPlaces, PlainInstructionsWriteTheirFirstOperandOrNone) {
  const std::set<std::string_view> without_result = {"bra", "red", "st"};
  each_instruction([&](const ptx::Instruction& i) {
    if (!is_plain(i)) return;
    EXPECT_EQ(writes_first_operand(i), !without_result.contains(i.opcode)) << i.spelling();
  });
}

}  // namespace
}  // namespace weft::emulator
