// SPDX-License-Identifier: Apache-2.0

// What seeds are for: programs without races give the same bytes under every schedule and with any
// number of workers, and a program that forgets to wait does not. Right values are by hand
// arithmetic.

#include "ptxbench/emulator/schedule.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "ptxbench/emulator/machine.h"
#include "ptxbench/emulator/tensor_map.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

constexpr uint32_t kThreads = 128, kBlocks = 3;
constexpr uint64_t kSeeds = 50;

struct Seen {
  std::vector<uint32_t> words;
  std::string fault;
  bool operator==(const Seen&) const = default;
};

// A kernel of 128 threads a block: %r1 is the thread, %r2 4 KiB of shared memory, %r3 an mbarrier
// of one arrival, %r4 the thread's byte offset; %rd1 reads words 1, 2, 3 ..., %rd2 is where the
// thread writes its word, %rd3 a tensor map over the first 128 words; %p1 holds in thread 0.
class Program {
 public:
  explicit Program(const std::string& body, const std::string& target = "sm_90a") {
    const std::string text =
        ".version 8.6\n.target " + target +
        "\n.address_size 64\n.visible .entry kernel(.param .align 64 .b8 map[128], .param .u64 in,"
        " .param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n"
        ".reg .b64 %rd<16>;\n.shared .align 1024 .b8 buffer[4096];\n.shared .align 8 .b64 "
        "full[2];\n"
        "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.b64 %rd3, map;\n"
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, buffer;\nmov.u32 %r3, full;\nshl.b32 %r4, %r1, 2;\n"
        "mov.u32 %r5, %ctaid.x;\nmad.lo.u32 %r5, %r5, 512, %r4;\ncvt.u64.u32 %rd4, %r5;\n"
        "add.s64 %rd2, %rd2, %rd4;\nsetp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 mbarrier.init.shared::cta.b64 [%r3], 1;\n"
        // Defined from the start: only the order of things may show.
        "mov.u32 %r9, %r4;\nClear:\nadd.u32 %r10, %r2, %r9;\nst.shared.u32 [%r10], 0;\n"
        "add.u32 %r9, %r9, 512;\nsetp.lt.u32 %p3, %r9, 4096;\n@%p3 bra Clear;\nbar.sync 0;\n" +
        body + "ret;\n}\n";
    auto module = ptx::parse(text, "schedule.ptx");
    EXPECT_TRUE(module.ok()) << format(module.error());
    if (module.ok()) module_ = *module;
  }

  Seen run(uint64_t seed, unsigned workers = 1) const {
    Seen seen;
    Machine machine(*find_device_model("b200"),
                    Options{.schedule_seed = seed, .workers = workers, .max_seconds = 20});
    const auto program = machine.load(module_);
    EXPECT_TRUE(program.ok()) << format(program.error());
    if (!program.ok()) return seen;
    const uint64_t in = machine.memory().allocate(4096);
    const uint64_t out = machine.memory().allocate(kBlocks * kThreads * 4);
    for (uint32_t i = 0; i < 1024; ++i) reinterpret_cast<uint32_t*>(in)[i] = i + 1;
    std::memset(reinterpret_cast<void*>(out), 0, kBlocks * kThreads * 4);
    TensorMap map;
    map.global_address = in;
    map.element = TensorElement::U32;
    map.rank = 1;
    map.last_index[0] = kThreads - 1;
    map.box[0] = kThreads;
    map.element_strides[0] = 1;
    seal(map);
    std::vector<std::byte> parameters(144);
    std::memcpy(parameters.data(), &map, sizeof map);
    std::memcpy(parameters.data() + 128, &in, 8);
    std::memcpy(parameters.data() + 136, &out, 8);
    const auto fault = machine.run({.kernel = (*program)->find_kernel("kernel"),
                                    .grid = {.x = kBlocks},
                                    .block = {.x = kThreads},
                                    .parameters = parameters});
    EXPECT_TRUE(fault.ok()) << format(fault.error());
    if (fault.ok() && *fault) seen.fault = name((*fault)->kind);
    seen.words.resize(kBlocks * kThreads);
    std::memcpy(seen.words.data(), reinterpret_cast<const void*>(out), kBlocks * kThreads * 4);
    return seen;
  }

  // The first seed that gives something else than seed 1, or faults; 0: there is none.
  uint64_t finding_seed() const {
    const Seen first = run(1);
    if (!first.fault.empty()) return 1;
    for (uint64_t seed = 2; seed <= kSeeds; ++seed)
      if (run(seed) != first) return seed;
    return 0;
  }

 private:
  std::shared_ptr<const ptx::Module> module_;
};

const std::string kWait =
    "Wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra Wait;\n";
// Every parity but that of the phase under way counts as complete.
const std::string kWaitForTheWrongPhase =
    "Wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 1;\n@!%p2 bra Wait;\n";

// Word i of the tensor to thread i.
std::string tensor_load(const std::string& wait) {
  return "mov.u32 %r6, 0;\n@!%p1 bra Issued;\n"
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;\n"
         "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], "
         "[%rd3, {%r6}], [%r3];\nIssued:\n" +
         wait + "add.u32 %r7, %r2, %r4;\nld.shared.u32 %r8, [%r7];\nst.global.u32 [%rd2], %r8;\n";
}

// Word i to thread 127 - i, by way of the lanes' own copies.
std::string lane_copies(const std::string& wait, const std::string& barrier) {
  return "cvt.u64.u32 %rd5, %r4;\nadd.s64 %rd5, %rd1, %rd5;\nadd.u32 %r7, %r2, %r4;\n"
         "cp.async.ca.shared.global [%r7], [%rd5], 4;\ncp.async.commit_group;\n" +
         wait + barrier +
         "sub.u32 %r7, 508, %r4;\nadd.u32 %r7, %r7, %r2;\nld.shared.u32 %r8, [%r7];\n"
         "st.global.u32 [%rd2], %r8;\n";
}

// All of shared memory to one 16-bit word.
std::string fill(const std::string& loop, uint32_t pair) {
  return "mov.u32 %r9, %r4;\n" + loop + ":\nadd.u32 %r10, %r2, %r9;\nst.shared.u32 [%r10], " +
         std::to_string(pair) +
         ";\nadd.u32 %r9, %r9, 512;\nsetp.lt.u32 %p3, %r9, 4096;\n@%p3 bra " + loop +
         ";\nfence.proxy.async;\nbar.sync 0;\n";
}

// Ones times ones over a depth of 16; then the operands become twos.
std::string warpgroup_product(const std::string& wait) {
  return fill("Ones", 0x3c003c00) +
         "shr.u32 %r11, %r2, 4;\ncvt.u64.u32 %rd6, %r11;\nor.b64 %rd6, %rd6, 0x0000001000080000;\n"
         "setp.ne.u32 %p4, 0, 0;\nwgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd6, %rd6, %p4,"
         " 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n" +
         wait + "bar.sync 0;\n" + fill("Twos", 0x40004000) +
         "wgmma.wait_group.sync.aligned 0;\nst.global.f32 [%rd2], %f0;\n";
}

// The same in tensor memory.
std::string tensor_product(const std::string& wait) {
  return "setp.lt.u32 %p5, %r1, 32;\nadd.u32 %r12, %r3, 8;\n@!%p5 bra Taken;\n"
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r12], 32;\n"
         "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nTaken:\n" +
         fill("Ones", 0x3c003c00) +
         "ld.shared.u32 %r13, [%r12];\nshr.u32 %r11, %r2, 4;\ncvt.u64.u32 %rd6, %r11;\n"
         "or.b64 %rd6, %rd6, 0x0000401000080000;\nsetp.ne.u32 %p4, 0, 0;\n@!%p1 bra Issued;\n"
         "tcgen05.mma.cta_group::1.kind::f16 [%r13], %rd6, %rd6, 0x08040010, %p4;\n"
         "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];\nIssued:\n" +
         wait +
         "tcgen05.fence::after_thread_sync;\nand.b32 %r14, %r1, 96;\nshl.b32 %r14, %r14, 16;\n"
         "add.u32 %r14, %r14, %r13;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r15}, [%r14];\n"
         "tcgen05.wait::ld.sync.aligned;\nst.global.u32 [%rd2], %r15;\nbar.sync 0;\n"
         "@!%p5 bra Done;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r13, 32;\nDone:\n";
}

const std::string kWaitForCopies = "cp.async.wait_group 0;\n";
const std::string kWaitForProducts = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kBarrier = "bar.sync 0;\n";
constexpr const char* kBlackwell = "sm_100a";
constexpr uint32_t kSixteen = 0x41800000;  // 16.0f

// Under all seeds and numbers of workers; `expected` of the thread.
void expect_always(const Program& program, uint32_t (*expected)(uint32_t thread)) {
  Seen right;
  for (uint32_t i = 0; i < kBlocks * kThreads; ++i) right.words.push_back(expected(i % kThreads));
  for (uint64_t seed = 0; seed <= kSeeds; ++seed)
    for (const unsigned workers : {1u, 2u, 4u}) {
      if (workers != 1 && seed % 8 != 0) continue;
      const Seen seen = program.run(seed, workers);
      ASSERT_EQ(seen.fault, "") << "seed " << seed << ", workers " << workers;
      ASSERT_EQ(seen.words, right.words) << "seed " << seed << ", workers " << workers;
    }
}

TEST(Schedules, DoNotShowInProgramsThatWait) {
  expect_always(Program(tensor_load(kWait)), [](uint32_t i) { return i + 1; });
  expect_always(Program(lane_copies(kWaitForCopies, kBarrier)),
                [](uint32_t i) { return kThreads - i; });
  expect_always(Program(warpgroup_product(kWaitForProducts)), [](uint32_t) { return kSixteen; });
  expect_always(Program(tensor_product(kWait), kBlackwell), [](uint32_t) { return kSixteen; });
}

TEST(Schedules, FindAMissingWaitForATensorLoad) {
  EXPECT_NE(Program(tensor_load("")).finding_seed(), 0u);
}

TEST(Schedules, FindAWaitForTheWrongPhase) {
  EXPECT_NE(Program(tensor_load(kWaitForTheWrongPhase)).finding_seed(), 0u);
}

TEST(Schedules, FindAMissingWaitForLaneCopies) {
  EXPECT_NE(Program(lane_copies("", kBarrier)).finding_seed(), 0u);
}

TEST(Schedules, FindAMissingBarrier) {
  EXPECT_NE(Program(lane_copies(kWaitForCopies, "")).finding_seed(), 0u);
}

TEST(Schedules, FindOperandsThatChangeBeforeTheWarpgroupsWait) {
  EXPECT_NE(Program(warpgroup_product("")).finding_seed(), 0u);
}

TEST(Schedules, FindAMissingWaitForACommit) {
  EXPECT_NE(Program(tensor_product(""), kBlackwell).finding_seed(), 0u);
}

TEST(Schedules, AreTheSameForTheSameSeed) {
  // A program with a race: only then is a schedule visible.
  const Program program(lane_copies("", ""));
  std::set<std::vector<uint32_t>> different;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    const Seen seen = program.run(seed);
    EXPECT_EQ(program.run(seed), seen);
    EXPECT_EQ(program.run(seed, 3), seen);  // its blocks do not meet
    different.insert(seen.words);
  }
  EXPECT_GE(different.size(), 4u);
}

TEST(Schedules, TradeClustersWithinTheirWindow) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::set<uint64_t> all;
    for (uint64_t number = 0; number < 21; ++number) {
      const uint64_t taken = cluster_in_turn(seed, 3, number, 8, 21);
      EXPECT_EQ(taken / 8, number / 8);
      EXPECT_TRUE(seed != 0 || taken == number);
      all.insert(taken);
    }
    EXPECT_EQ(all.size(), 21u);
    EXPECT_LT(*all.rbegin(), 21u);
  }
}

}  // namespace
}  // namespace weft::emulator
