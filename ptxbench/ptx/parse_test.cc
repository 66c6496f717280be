// SPDX-License-Identifier: Apache-2.0

// What the parser makes of the language's constructs. Expected values follow from PTX ISA 9.0.
#include "ptxbench/ptx/parse.h"

#include <gtest/gtest.h>

#include "ptxbench/isa/form.h"

namespace weft::ptx {
namespace {

const std::string kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";

std::shared_ptr<const Module> parsed(const std::string& text) {
  auto result = parse(text, "test.ptx");
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : format(result.error()));
  return result.ok() ? *result : std::make_shared<Module>();
}

// A kernel with some registers declared.
std::shared_ptr<const Module> kernel(const std::string& body) {
  return parsed(kHeader +
                ".entry k(.param .u64 p, .param .align 8 .b8 block[24])\n{\n.reg .pred %p<4>;\n"
                ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n" +
                body + "\n}\n");
}

const Instruction& instruction(const Module& module, std::size_t number = 0) {
  for (const Statement& statement : module.functions.at(0).body) {
    if (const auto* found = std::get_if<Instruction>(&statement)) {
      if (number-- == 0) return *found;
    }
  }
  static const Instruction none;
  ADD_FAILURE() << "no such instruction";
  return none;
}

template <typename T>
const T& as(const Operand& operand) {
  return std::get<T>(operand.value);
}

uint64_t constant_operand(const std::string& expression) {
  const auto module = kernel("mov.b64 %rd1, " + expression + ";");
  return as<Constant>(instruction(*module).operands.at(1)).bits;
}

TEST(Parse, FillsWhatAnInstructionSays) {
  const auto module = kernel(".loc 1 42 7\n@!%p1 ld.global.nc.v2.f32 {%f1, %f2}, [%rd1+-8];");
  const Instruction& load = instruction(*module);
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_EQ(load.spelling(), "ld.global.nc.v2.f32");
  EXPECT_TRUE(load.has("nc"));
  EXPECT_FALSE(load.has("ca"));
  EXPECT_EQ(load.types, std::vector{isa::Type::F32});
  EXPECT_EQ(load.space, isa::Space::Global);
  EXPECT_EQ(load.line, (SourceLine{1, 42, 7}));
  EXPECT_EQ(load.position, (SourcePosition{11, 7}));
  ASSERT_NE(load.form, nullptr);
  EXPECT_EQ(load.form->family, isa::InstructionFamily::LoadStore);
  ASSERT_TRUE(load.guard.has_value());
  EXPECT_TRUE(load.guard->negated);
  const auto& address = as<AddressOperand>(load.operands.at(1));
  EXPECT_EQ(address.offset, -8);
  EXPECT_EQ(as<RegisterOperand>(address.parts.at(0)).index, 4u + 9u + 1u);
}

TEST(Parse, EvaluatesConstantExpressionsInSixtyFourBits) {
  EXPECT_EQ(constant_operand("4*8+1"), 33u);
  EXPECT_EQ(constant_operand("-(2+3)*2"), static_cast<uint64_t>(-10));
  EXPECT_EQ(constant_operand("1<<63"), uint64_t{1} << 63);
  EXPECT_EQ(constant_operand("-8>>1"), static_cast<uint64_t>(-4));
  EXPECT_EQ(constant_operand("0xFFFFFFFFFFFFFFF8U>>1"), 0x7FFFFFFFFFFFFFFCu);
  EXPECT_EQ(constant_operand("~0 & 0xF0 | 3 ^ 1"), 0xF2u);
  EXPECT_EQ(constant_operand("1 ? 5 : 6"), 5u);
  EXPECT_EQ(constant_operand("3 > 2 && !0"), 1u);
  EXPECT_EQ(constant_operand("WARP_SZ*2"), 64u);
  EXPECT_EQ(constant_operand("(.u64)7 % 4"), 3u);
}

TEST(Parse, InnerScopesHideOuterNamesUntilTheyClose) {
  const auto module = kernel("{ .reg .b64 %r1; mov.b64 %r1, 1; }\nmov.b32 %r1, 2;");
  const Function& function = module->functions[0];
  const auto& inner = as<RegisterOperand>(instruction(*module, 0).operands[0]);
  const auto& outer = as<RegisterOperand>(instruction(*module, 1).operands[0]);
  EXPECT_EQ(function.registers[inner.index].type, isa::Type::B64);
  EXPECT_EQ(function.registers[outer.index].type, isa::Type::B32);
}

TEST(Parse, LabelsBelongToTheirScope) {
  const auto module = kernel(
      "{ bra again; again: }\n{ again: bra again; }\nagain: bra done; { bra done; }\ndone: ret;");
  const Function& function = module->functions[0];
  ASSERT_EQ(function.labels.size(), 4u);
  const uint32_t expected[] = {0, 1, 3, 3};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(as<LabelOperand>(instruction(*module, i).operands[0]).index, expected[i]) << i;
  }
  for (const Label& label : function.labels) {
    EXPECT_TRUE(std::holds_alternative<LabelStatement>(function.body[label.statement]));
  }
}

TEST(Parse, RangesOfRegistersWithDigitsInTheirNames) {
  const auto module = kernel(".reg .b32 %a<12>, %a1<5>, %single;\nmov.b32 %a11, %single;");
  const Function& function = module->functions[0];
  EXPECT_EQ(function.registers[as<RegisterOperand>(instruction(*module).operands[0]).index].name,
            "%a11");
}

TEST(Parse, SpecialRegistersAndComponents) {
  const auto module = kernel(
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %reserved_smem_offset_1;\nmov.u64 %rd1, %clock64;\n"
      "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid;");
  const auto& tid = as<SpecialRegister>(instruction(*module, 0).operands[1]);
  EXPECT_EQ(tid.name, "tid");
  EXPECT_EQ(tid.component, Component::X);
  EXPECT_EQ(as<SpecialRegister>(instruction(*module, 1).operands[1]).name,
            "reserved_smem_offset_1");
  EXPECT_EQ(as<SpecialRegister>(instruction(*module, 3).operands[1]).component, Component::Whole);
}

TEST(Parse, PairsVectorsSinksAndNegation) {
  const auto module = kernel(
      "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;\nshfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;\n"
      "ld.v4.b32 {%r1, _, %r3, _}, [%rd1];");
  const Instruction& setp = instruction(*module, 0);
  EXPECT_EQ(as<PairOperand>(setp.operands[0]).elements.size(), 2u);
  EXPECT_TRUE(as<RegisterOperand>(setp.operands[3]).negated);
  EXPECT_TRUE(std::holds_alternative<Sink>(
      as<VectorOperand>(instruction(*module, 2).operands[0]).elements[1].value));
}

TEST(Parse, CallsNameTheirFunctionParametersAndResults) {
  const auto module =
      parsed(kHeader +
             ".visible .entry k() {\n.reg .b32 %r<2>;\n.param .b32 a; .param .b32 b;\n"
             "call.uni (a), f, (b, 7);\n}\n"
             ".func (.param .b32 r) f(.param .b32 x, .param .b32 y) { ret; }");
  const Instruction& call = instruction(*module);
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(as<SymbolOperand>(as<ListOperand>(call.operands[0]).elements[0]).kind,
            SymbolOperand::Kind::FunctionVariable);
  const auto& callee = as<SymbolOperand>(call.operands[1]);
  EXPECT_EQ(callee.kind, SymbolOperand::Kind::Function);
  EXPECT_EQ(module->functions[callee.index].name, "f");
}

TEST(Parse, OperandsMeanTheDefinitionOfADeclaredFunction) {
  const auto module =
      parsed(kHeader + ".func f();\n.entry k() { call f; ret; }\n.func f() { ret; }");
  ASSERT_EQ(module->functions.size(), 3u);
  for (const Statement& statement : module->functions[1].body) {
    const auto* call = std::get_if<Instruction>(&statement);
    if (call == nullptr || call->opcode != "call") continue;
    EXPECT_EQ(as<SymbolOperand>(call->operands[0]).index, 2u);
  }
}

TEST(Parse, ParametersOfKernels) {
  const auto module = kernel("ld.param.b64 %rd1, [block+16];");
  const Function& function = module->functions[0];
  ASSERT_EQ(function.parameters.size(), 2u);
  EXPECT_EQ(function.parameters[0].size(), 8u);
  EXPECT_EQ(function.parameters[1].size(), 24u);
  EXPECT_EQ(function.parameters[1].alignment, 8u);
  const auto& address = as<AddressOperand>(instruction(*module).operands[1]);
  EXPECT_EQ(as<SymbolOperand>(address.parts[0]).kind, SymbolOperand::Kind::Parameter);
  EXPECT_EQ(as<SymbolOperand>(address.parts[0]).index, 1u);
  EXPECT_EQ(address.offset, 16);
}

TEST(Parse, InitialisersInRowOrderWithZerosForShortRows) {
  const auto module =
      parsed(kHeader +
             ".global .s32 m[2][3] = {{1, 2}, {3}};\n.global .u64 p[2] = {generic(m)+4, m};\n"
             ".global .u8 b[2] = {0xff(m), 0xff00(m)};\n.global .f32 open[] = {0f00000000, 1.0};\n"
             ".global .align 16 .b8 raw[8];");
  const auto& m = module->variables[0].initial;
  ASSERT_EQ(m.size(), 6u);
  const uint64_t values[] = {1, 2, 0, 3, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(m[i].constant.bits, values[i]) << i;
  const auto& p = module->variables[1].initial;
  EXPECT_EQ(p[0].symbol, "m");
  EXPECT_TRUE(p[0].generic);
  EXPECT_EQ(p[0].offset, 4);
  EXPECT_FALSE(p[1].generic);
  EXPECT_EQ(module->variables[2].initial[1].mask, 0xff00u);
  EXPECT_EQ(module->variables[3].size(), 8u);
  EXPECT_EQ(module->variables[4].alignment, 16u);
}

TEST(Parse, LaunchBoundsAndClusters) {
  const auto module =
      parsed(kHeader +
             ".entry k() .reqntid 128 .maxnreg 64 .maxclusterrank 8 .reqnctapercluster 2,1,1 "
             ".explicitcluster .pragma \"abi_param_reg all\"; { ret; }");
  const Function& function = module->functions[0];
  EXPECT_EQ(function.required_threads->x, 128u);
  EXPECT_EQ(function.required_threads->y, 1u);
  EXPECT_EQ(function.max_registers, 64u);
  EXPECT_EQ(function.required_cluster->x, 2u);
  EXPECT_TRUE(function.explicit_cluster);
  EXPECT_EQ(function.pragmas.size(), 1u);
}

TEST(Parse, TablesOfTargets) {
  const auto module = kernel("t: .branchtargets b, a;\nbrx.idx %r1, t;\na: ret;\nb: ret;");
  for (const Statement& statement : module->functions[0].body) {
    if (const auto* targets = std::get_if<BranchTargets>(&statement)) {
      EXPECT_EQ(targets->labels, (std::vector<uint32_t>{1, 0}));
    }
  }
}

TEST(Parse, OptionalOperandsGoToTheirPlaces) {
  const auto module = kernel(
      "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2, 100;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 4;\nbar.sync 1, 64;\nbar.sync 0;");
  EXPECT_EQ(instruction(*module, 0).operands.size(), 4u);
  EXPECT_EQ(instruction(*module, 2).form, instruction(*module, 3).form);
}

TEST(Parse, SeveralErrorsAreReportedTogether) {
  const auto result =
      parse(kHeader + ".entry k() {\nfoo;\nadd.s32 1;\nbar.sync 0\n}\n.global .b99 x;", "x.ptx");
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.error().diagnostics.size(), 4u) << format(result.error());
  EXPECT_EQ(result.error().diagnostics[0].source_line, "foo;");
  EXPECT_EQ(result.error().diagnostics[3].position, (SourcePosition{9, 9}));
}

}  // namespace
}  // namespace weft::ptx
