// SPDX-License-Identifier: Apache-2.0

// The instruction table says what executes (docs/isa_coverage.md is made of it). Here it is held
// against what lowering makes of an instruction of each row and modifier: rows that execute do not
// end in the fault "unsupported", and rows that only parse do. The generated operands have the
// right shape and not always the right type; what lowering refuses for that is left out.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "ptxbench/emulator/code.h"
#include "ptxbench/emulator/device_model.h"
#include "ptxbench/isa/catalogue.h"
#include "ptxbench/ptx/instruction_generator.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

std::string target_of(const isa::Form& form) {
  return std::string(form.targets.substr(0, form.targets.find(' ')));
}

// The handler of the op that the only instruction of a kernel counts at; none when it is refused or
// belongs to another row than `form`.
std::optional<Handler> handler_of(Machine& machine, const std::string& instruction,
                                  const isa::Form& form) {
  const auto module = ptx::parse(ptx::module_of({instruction}, target_of(form)), "row.ptx");
  if (!module.ok()) return std::nullopt;
  const auto program = machine.load(*module);
  if (!program.ok()) return std::nullopt;
  const FunctionCode& code = *dynamic_cast<const ProgramImage&>(**program).functions[0];
  if (code.instructions[0]->form->syntax != form.syntax) return std::nullopt;
  return code.ops[code.counting_op[0]].handler;
}

TEST(Coverage, RowsExecuteWhereTheTableSaysSo) {
  Machine machine(*find_device_model("h100"), Options{});
  std::optional<Handler> unsupported;
  struct Rows {
    size_t all = 0, held = 0;
  } executing, parsed;
  const auto hold = [&](const isa::Form& form, Rows& rows) {
    const bool executes = form.status == isa::Status::Executes;
    bool held = false;
    for (size_t k = 0; k < ptx::variant_count(form); ++k) {
      const std::string text = ptx::variant(form, k);
      const auto handler = handler_of(machine, text, form);
      if (!handler) continue;
      held = true;
      if (!executes && !unsupported) unsupported = handler;
      EXPECT_EQ(handler == unsupported, !executes) << text << "\n  a variant of " << form.syntax;
    }
    ++rows.all;
    rows.held += held;
  };
  // Those that only parse come first: all have one handler, and the others have not.
  for (const isa::Chapter& chapter : isa::chapters())
    for (const isa::Form& form : chapter.forms)
      if (form.status == isa::Status::Parses) hold(form, parsed);
  for (const isa::Chapter& chapter : isa::chapters())
    for (const isa::Form& form : chapter.forms)
      if (form.status == isa::Status::Executes) hold(form, executing);
  EXPECT_GE(parsed.held * 10, parsed.all * 7) << parsed.held << " of " << parsed.all;
  EXPECT_GE(executing.held * 100, executing.all * 79) << executing.held << " of " << executing.all;
}

}  // namespace
}  // namespace weft::emulator
