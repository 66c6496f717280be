// SPDX-License-Identifier: Apache-2.0

// Recordings that the test writes itself. The expected values are the kernel's arithmetic by hand.
#include "ptxbench/judge/replay/replay.h"

#include <gtest/gtest.h>

#include <cstring>

#include <nlohmann/json.hpp>

#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/judge/replay/module_digest.h"

namespace weft::judge {
namespace {

using Operation = emulator::RecordedOperation;
using Kind = Operation::Kind;

// out[i] = in[i] + table, one thread an element.
constexpr const char* kAdd = R"(
.version 8.0
.target sm_90a
.address_size 64
.global .u32 table;
.visible .entry add(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  mov.u32 %r0, %tid.x;
  mad.wide.u32 %d0, %r0, 4, %d0;
  mad.wide.u32 %d1, %r0, 4, %d1;
  ld.global.u32 %r1, [%d0];
  ld.global.u32 %r2, [table];
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%d1], %r1;
  ret;
}
)";
constexpr uint64_t kIn = 0x3000'0000'0200, kOut = 0x3000'0000'2000, kTable = 0x3000'0001'0000;

Operation operation(Kind kind, uint64_t target = 0, uint64_t bytes = 0, std::string text = {}) {
  Operation made;
  made.kind = kind;
  made.target = target;
  made.bytes = bytes;
  made.text = std::move(text);
  return made;
}

std::string bytes_of(const std::vector<uint64_t>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * 8};
}

class ReplayTest : public testing::Test {
 protected:
  void SetUp() override {
    orders_.device = "h100";
    orders_.workers = 1;
    orders_.poison = 0xee;
    orders_.tensors = {{kIn, 16, folder_.file("in"), folder_.file("in_after")},
                       {kOut, 16, "", folder_.file("out")}};
    const uint32_t values[] = {10, 20, 30, 40};
    ASSERT_TRUE(write_file(folder_.file("in"), {reinterpret_cast<const char*>(values), 16}).ok());
    Operation write = operation(Kind::Write, kTable);
    write.data = std::string("\x05\0\0\0", 4);
    Operation launch = operation(Kind::Launch, 0, 0, "add");
    launch.data = bytes_of({kIn, kOut});
    launch.block = {4, 1, 1};
    operations_ = {operation(Kind::Allocate, kIn, 16),
                   operation(Kind::Allocate, kOut, 16),
                   operation(Kind::Module, 0, 0, kAdd),
                   operation(Kind::Variable, kTable, 4, "table"),
                   write,
                   launch};
  }
  Result<Done> run() {
    replay_ = std::make_unique<Replay>(orders_, *emulator::find_device_model("h100"));
    return replay_->run(operations_);
  }

  TemporaryDirectory folder_ = TemporaryDirectory::create("replay").value();
  ReplayOrders orders_;
  std::vector<Operation> operations_;
  std::unique_ptr<Replay> replay_;
};

TEST_F(ReplayTest, RunsLaunchesOnOtherInputsAndCounts) {
  ASSERT_TRUE(run().ok());
  ASSERT_TRUE(replay_->write_tensors().ok());
  const std::string out = read_file(folder_.file("out")).value();
  uint32_t sums[4];
  std::memcpy(sums, out.data(), 16);
  EXPECT_EQ(sums[0], 15u);
  EXPECT_EQ(sums[3], 45u);
  const Json report = replay_->report("");
  const Json& kernel = report["kernels"][0];
  EXPECT_EQ(kernel["name"], "add");
  EXPECT_EQ(kernel["launches"], 1);
  uint64_t additions = 0;
  for (const Json& row : kernel["instructions"])
    if (row["opcode"] == "add.u32") additions += row["lanes"].get<uint64_t>();
  EXPECT_EQ(additions, 4u);
}

TEST_F(ReplayTest, LeavesPoisonWhereNothingWasLaunched) {
  operations_.pop_back();
  ASSERT_TRUE(run().ok());
  ASSERT_TRUE(replay_->write_tensors().ok());
  EXPECT_EQ(read_file(folder_.file("out")).value(), std::string(16, '\xee'));
}

TEST_F(ReplayTest, FaultsOutsideWhatWasAllocated) {
  operations_.back().block = {5, 1, 1};
  ASSERT_TRUE(run().ok());
  ASSERT_TRUE(replay_->fault().has_value());
  EXPECT_EQ(replay_->fault()->kind, emulator::FaultKind::OutOfBounds);
}

TEST_F(ReplayTest, TouchesNothingThatIsNoDeviceMemory) {
  Operation copy = operation(Kind::Copy, kOut, 16);
  copy.source = reinterpret_cast<uint64_t>(this);
  operations_.push_back(copy);
  EXPECT_FALSE(run().ok());
  operations_.back() = operation(Kind::Fill, kOut, 17);
  EXPECT_FALSE(run().ok());
  operations_.back() = operation(Kind::Allocate, reinterpret_cast<uint64_t>(this), 16);
  EXPECT_FALSE(run().ok());
}

TEST_F(ReplayTest, SaysWhatARecordingCannotHold) {
  operations_.push_back(operation(Kind::Unrepeatable, 0, 0, "a texture"));
  const Result<Done> ran = run();
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().message(), "a texture");
}

TEST(ModuleDigest, LooksAtCodeOnly) {
  EXPECT_EQ(module_digest("// by nvcc\n.version 9.0\n\tret;\n"),
            module_digest(".version 9.0 ret;\0\n"));
  EXPECT_EQ(module_digest("a /* b\n c */ d"), module_digest("a d"));
  EXPECT_NE(module_digest("add.u32 a"), module_digest("add.s32 a"));
}

}  // namespace
}  // namespace weft::judge
