// SPDX-License-Identifier: Apache-2.0

// What the check "wgmma" says of code that the manual allows and of code that it forbids (PTX ISA
// 9.0, 9.7.15.2: accumulators and A fragments must not be touched before the wait).

#include "ptxbench/emulator/ops/in_flight_check.h"

#include <string>

#include "ptxbench/emulator/ops/matrix_program.h"

namespace weft::emulator {
namespace {

// Shared memory may hold anything here: only the fault counts.
const std::string kDescriptors =
    "mov.b64 %rd8, 0x4000004000010000;\nadd.s64 %rd8, %rd8, %rd11;\nsetp.eq.u32 %p2, 1, 1;\n"
    "setp.eq.u32 %p3, 1, 2;\n";
const std::string kFirst =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd8, %rd8, %p2, 1, "
    "1, 0, 0;\n";
const std::string kSecond =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f4, %f5, %f6, %f7}, {%a0, %a1, %a2, "
    "%a3}, %rd8, %p2, 1, 1, 0;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kWaitOne = "wgmma.wait_group.sync.aligned 1;\n";

// The fault's message; "none" without one.
std::string fault_of(const std::string& body, bool checked = true) {
  MatrixProgram program;
  program.threads = 128;
  program.shared = 16 * 1024;
  program.checks.wgmma = checked;
  program.body = kDescriptors + body;
  program.run();
  if (!program.fault) return "none";
  EXPECT_EQ(program.fault->kind, FaultKind::RegisterInFlight) << program.fault->message;
  EXPECT_EQ(program.fault->notes.size(), 1u);
  return program.fault->message;
}

TEST(InFlightCheck, AllowsWhatTheManualAllows) {
  EXPECT_EQ(fault_of(kFirst + kFirst + kCommit + kWait + "add.f32 %f8, %f0, %f1;\n"), "none");
  EXPECT_EQ(fault_of(kFirst + kCommit + kSecond + kCommit + kWaitOne +
                     "add.f32 %f8, %f0, %f1;\nxor.b32 %r9, %a0, %a1;\n" + kWait),
            "none");
}

TEST(InFlightCheck, AllowsTheCopiesOfACompiler) {
  EXPECT_EQ(fault_of(kFirst + "mov.f32 %f8, %f0;\nmov.f32 %f0, %f8;\n" + kCommit + kWait +
                     "add.f32 %f9, %f8, %f0;\n"),
            "none");
  // A copy that something else has replaced is free.
  EXPECT_EQ(fault_of(kFirst + kCommit +
                     "mov.f32 %f8, %f0;\nmov.f32 %f8, 0f00000000;\n"
                     "add.f32 %f9, %f8, %f8;\n" +
                     kWait),
            "none");
}

TEST(InFlightCheck, FindsReadsBeforeTheWait) {
  EXPECT_EQ(fault_of(kFirst + kCommit + "add.f32 %f8, %f9, %f2;\n" + kWait),
            "accumulator %f2 is read before the wgmma.wait_group that covers it");
  EXPECT_EQ(fault_of(kFirst + kCommit + kSecond + kCommit + kWaitOne + "add.f32 %f8, %f9, %f4;\n"),
            "accumulator %f4 is read before the wgmma.wait_group that covers it");
  EXPECT_EQ(fault_of(kFirst + kCommit + "mov.f32 %f8, %f0;\nst.shared.f32 [%r2], %f8;\n" + kWait),
            "%f8, a copy of an accumulator, is read before the wgmma.wait_group that covers it");
  // Not committed: no wait covers it.
  EXPECT_EQ(fault_of(kFirst + kWait + "add.f32 %f8, %f0, %f0;\n"),
            "accumulator %f0 is read before the wgmma.wait_group that covers it");
}

TEST(InFlightCheck, FindsWritesBeforeTheWait) {
  EXPECT_EQ(fault_of(kFirst + "mov.f32 %f3, 0f00000000;\n" + kCommit + kWait),
            "accumulator %f3 is written before the wgmma.wait_group that covers it");
  EXPECT_EQ(fault_of(kSecond + kCommit + "xor.b32 %a0, %a1, %a2;\n" + kWait),
            "%a0, a fragment of A, is written before the wgmma.wait_group that covers it");
}

TEST(InFlightCheck, FindsSumsThatGoOnAsFragments) {
  EXPECT_EQ(fault_of(kFirst +
                     "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f4, %f5, %f6, %f7}, "
                     "{%f0, %f1, %f2, %f3}, %rd8, %p2, 1, 1;\n" +
                     kCommit + kWait),
            "accumulator %f0 is read before the wgmma.wait_group that covers it");
}

TEST(InFlightCheck, JudgesWhatHappensAndNotWhatMight) {
  // %p3 is false: the read never happens.
  const std::string guarded = kFirst + kCommit + "@%p3 add.f32 %f8, %f0, %f1;\n" + kWait;
  EXPECT_EQ(fault_of(guarded), "none");
  // The first time round the loop nothing is in flight; the second time it is.
  const auto rounds = [](int count) {
    return fault_of("mov.u32 %r8, 0;\nLoop:\nadd.f32 %f8, %f0, %f1;\n" + kFirst + kCommit +
                    "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p4, %r8, " + std::to_string(count) +
                    ";\n@%p4 bra Loop;\n" + kWait);
  };
  EXPECT_EQ(rounds(1), "none");
  EXPECT_EQ(rounds(2), "accumulator %f0 is read before the wgmma.wait_group that covers it");
}

TEST(InFlightCheck, IsSilentUnlessAskedFor) {
  EXPECT_EQ(fault_of(kFirst + kCommit + "add.f32 %f8, %f0, %f2;\n" + kWait, false), "none");
}

}  // namespace
}  // namespace weft::emulator
