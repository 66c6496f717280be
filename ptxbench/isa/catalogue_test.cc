// SPDX-License-Identifier: Apache-2.0

// Matching of modifiers against rows. Accepted and refused spellings are those that ptxas 13.0
// accepts and refuses.
#include "ptxbench/isa/catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "ptxbench/isa/special_registers.h"

namespace weft::isa {
namespace {

std::vector<std::string_view> split(std::string_view spelling) {
  std::vector<std::string_view> parts;
  for (std::size_t dot = spelling.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = spelling.find('.', dot + 1);
    parts.push_back(
        spelling.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    dot = next;
  }
  return parts;
}

std::vector<const Form*> match(std::string_view spelling) {
  return match_modifiers(spelling.substr(0, spelling.find('.')), split(spelling));
}

// A row is read at compile time, so facts about it can be asserted there.
static_assert(operand_count("sad.<type>  d, a, b, c") == 4);
static_assert(read_row({.syntax = "shfl.sync.b32  d{|p}, a{, b}"}).required_operands == 2);
static_assert(read_row({.syntax = "shfl.sync.b32  d{|p}, a"}).operands[0].shape ==
              OperandShape::OptionalPair);
static_assert(read_row({.syntax = "elect.sync  d|p, a"}).operands[0].shape == OperandShape::Pair);
static_assert(read_row({.syntax = "ld.b32  d, [a]"}).operands[1].shape == OperandShape::Address);

TEST(Catalogue, AcceptsModifiersInTheOrdersThatProgramsUse) {
  for (const char* spelling :
       {"ldmatrix.sync.aligned.x4.m8n8.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "vote.sync.ballot.b32", "vote.ballot.sync.b32", "match.any.sync.b64", "atom.global.add.f64",
        "atom.add.relaxed.cta.u32", "atom.global.sys.add.u32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn",
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64",
        "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster.L2::cache_hint"}) {
    EXPECT_FALSE(match(spelling).empty()) << spelling;
  }
}

TEST(Catalogue, KeepsTypesAndSpacesInTheirPlaces) {
  EXPECT_FALSE(match("cvt.rzi.s32.f32").empty());
  EXPECT_TRUE(match("cvt.rzi.f32.s32").empty());
  EXPECT_FALSE(match("cvt.rn.f32.s32").empty());
  EXPECT_TRUE(match("cvt.rn.s32.f32").empty());
  const auto load = match("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes");
  const auto store = match("cp.async.bulk.global.shared::cta.bulk_group");
  ASSERT_EQ(load.size(), 1u);
  ASSERT_EQ(store.size(), 1u);
  EXPECT_NE(load[0], store[0]);
  EXPECT_TRUE(match("cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes").empty());
}

TEST(Catalogue, RefusesWhatTheAssemblerRefuses) {
  for (const char* spelling :
       {"add.b32", "add.f32.f32", "fma.f32", "mul.s32", "cvt.f16.f32", "setp.lt.b32",
        "ld.volatile.const.u32", "atom.and.u32", "mov.f16", "shfl.sync.b32",
        "wgmma.mma_async.sync.aligned.m64n9k16.f32.bf16.bf16",
        "mma.sync.aligned.m16n8k16.row.row.f32.bf16.bf16.f32", "add.sat.sat.s32", "bar.sync.u32"}) {
    EXPECT_TRUE(match(spelling).empty()) << spelling;
  }
}

TEST(Catalogue, SaysWhichModifierIsUnknown) {
  const std::string_view spelling = "add.s33";
  const Mismatch mismatch = explain_mismatch("add", split(spelling));
  EXPECT_EQ(mismatch.message, "unknown modifier of add: .s33");
  EXPECT_EQ(mismatch.modifier, 0);
}

TEST(Catalogue, SaysWhatIsMissingAndWhatIsAllowed) {
  const Mismatch mismatch = explain_mismatch("fma", split("fma.f32"));
  EXPECT_EQ(mismatch.message, "missing modifier of fma: .rn .rz .rm .rp");
  EXPECT_EQ(mismatch.modifier, -1);
}

TEST(Catalogue, FamiliesTellTheTargetInstructionsApart) {
  EXPECT_EQ(match("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16")[0]->family,
            InstructionFamily::Wgmma);
  EXPECT_EQ(match("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group")[0]->family,
            InstructionFamily::TensorCopy);
  EXPECT_EQ(match("cp.async.bulk.commit_group")[0]->family, InstructionFamily::BulkCopy);
  EXPECT_EQ(match("cp.async.wait_all")[0]->family, InstructionFamily::AsyncCopy);
  EXPECT_EQ(match("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32")[0]->family,
            InstructionFamily::Tcgen05);
}

TEST(Catalogue, EveryChapterHasRowsAndEveryRowIsFoundByItsOpcode) {
  for (const Chapter& chapter : chapters()) {
    EXPECT_FALSE(chapter.forms.empty()) << chapter.name;
    for (const Form& form : chapter.forms) {
      const auto found = forms_of(form.opcode);
      EXPECT_NE(std::find(found.begin(), found.end(), &form), found.end()) << form.syntax;
    }
  }
}

TEST(Catalogue, NoTwoRowsAreTheSame) {
  std::set<std::string> seen;
  for (const Chapter& chapter : chapters()) {
    for (const Form& form : chapter.forms) {
      EXPECT_TRUE(seen.insert(std::string(form.syntax) + "/" + std::string(form.types)).second)
          << form.syntax;
    }
  }
}

// PTX ISA 9.0, section 11.1.2: plain targets are upward compatible, `a` stands alone, `f` is a
// family.
TEST(Targets, VariantsHaveWhatTheManualGivesThem) {
  const Form& wgmma = *match("wgmma.fence.sync.aligned")[0];
  EXPECT_TRUE(available(wgmma, "sm_90a"));
  EXPECT_FALSE(available(wgmma, "sm_90"));
  EXPECT_FALSE(available(wgmma, "sm_100a"));
  const Form& tcgen05 = *match("tcgen05.wait::ld.sync.aligned")[0];
  EXPECT_TRUE(available(tcgen05, "sm_100a"));
  EXPECT_TRUE(available(tcgen05, "sm_100f"));
  EXPECT_TRUE(available(tcgen05, "sm_110a"));
  EXPECT_FALSE(available(tcgen05, "sm_120a"));
  const Form& elect = *match("elect.sync")[0];
  EXPECT_TRUE(available(elect, "sm_90"));
  EXPECT_TRUE(available(elect, "sm_120"));
  EXPECT_FALSE(available(elect, "sm_89"));
}

TEST(SpecialRegisters, AreFoundByName) {
  ASSERT_NE(find_special_register("tid"), nullptr);
  EXPECT_TRUE(find_special_register("tid")->vector);
  ASSERT_NE(find_special_register("reserved_smem_offset_1"), nullptr);
  EXPECT_EQ(find_special_register("clock64")->type, Type::U64);
  EXPECT_EQ(find_special_register("tidy"), nullptr);
}

TEST(Types, NamesAndWidthsAgreeWithTheManual) {
  EXPECT_EQ(parse_type("u32"), Type::U32);
  EXPECT_EQ(parse_type("b6x16_p32"), Type::B6x16P32);
  EXPECT_EQ(parse_type("x4"), std::nullopt);
  EXPECT_EQ(parse_type(""), std::nullopt);
  EXPECT_EQ(bits(Type::Bf16x2), 32);
  EXPECT_EQ(bits(Type::E2m1), 4);
  EXPECT_TRUE(is_signed(Type::S16x2));
  EXPECT_FALSE(is_signed(Type::B32));
  EXPECT_TRUE(is_float(Type::Tf32));
  EXPECT_TRUE(is_untyped(Type::B128));
}

}  // namespace
}  // namespace weft::isa
