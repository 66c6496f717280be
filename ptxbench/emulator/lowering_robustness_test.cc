// SPDX-License-Identifier: Apache-2.0

// Whatever the parser takes is loaded or refused with a located error: modifiers and operands of
// every row of the instruction table come and go at random here, so that places are empty that a
// meaning reads and filled that it does not expect. The address sanitizer watches in CI.
#include <gtest/gtest.h>

#include <string>

#include "ptxbench/emulator/code.h"
#include "ptxbench/emulator/device_model.h"
#include "ptxbench/emulator/machine.h"
#include "ptxbench/isa/catalogue.h"
#include "ptxbench/ptx/instruction_generator.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

TEST(LoweringRobustness, EveryRowLoadsOrIsRefusedWithAPlace) {
  Machine machine(*find_device_model("h100"), Options{});
  ptx::Random random(20261201);
  size_t loaded = 0, refused = 0;
  for (const isa::Chapter& chapter : isa::chapters())
    for (const isa::Form& form : chapter.forms)
      for (int k = 0; k < 20; ++k) {
        const std::string text = ptx::random_instruction(form, random);
        const std::string target(form.targets.substr(0, form.targets.find(' ')));
        const auto module = ptx::parse(ptx::module_of({text}, target), "row.ptx");
        if (!module.ok()) continue;
        const auto program = machine.load(*module);
        if (program.ok()) {
          ++loaded;
        } else {
          ++refused;
          ASSERT_FALSE(program.error().diagnostics.empty()) << text;
          EXPECT_EQ(program.error().diagnostics[0].file, "row.ptx") << text;
          EXPECT_GT(program.error().diagnostics[0].position.line, 0u) << text;
        }
      }
  EXPECT_GT(loaded, 1000u);
  EXPECT_GT(refused, 100u);
}

// A mask is promised and its operand is missing: PTX ISA 9.0, cp.async.bulk, .cp_mask takes
// byteMask.
TEST(LoweringRobustness, MissingOperandIsNamed) {
  Machine machine(*find_device_model("b200"), Options{});
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n"
      "  .reg .b32 %r<2>;\n  .reg .b64 %d<4>;\n"
      "  cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%d1], [%d2], %r1, "
      "%d3;\n"
      "  ret;\n}\n",
      "mask.ptx");
  ASSERT_TRUE(module.ok());
  const auto program = machine.load(*module);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().diagnostics[0].position.line, 7u);
  EXPECT_NE(program.error().diagnostics[0].message.find("an operand is missing"), std::string::npos)
      << program.error().diagnostics[0].message;
}

}  // namespace
}  // namespace weft::emulator
