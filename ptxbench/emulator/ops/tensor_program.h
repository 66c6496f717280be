// SPDX-License-Identifier: Apache-2.0

// For tests: whole programs of one block around instructions of tensor memory. Shared memory and
// tensor memory are filled from words of each thread, one thread issues, and columns come back.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ptxbench/emulator/machine.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {

inline constexpr int kThreads = 128;
inline constexpr uint32_t kShared = 64 * 1024, kB = 24 * 1024, kBarrier = 63 * 1024;
inline constexpr int kAColumn = 256, kMetadataColumn = 440;  // of tensor memory

inline std::string registers(const char* name, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return list + "}";
}

// Moves word i of every thread between memory at `base` and %name i.
inline std::string move(const char* opcode, const char* base, const char* name, int first,
                        int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string place = fmt::format("[{}+{}]", base, (first + i) * kThreads * 4),
                      value = fmt::format("%{}{}", name, i);
    const bool load = std::string_view(opcode).starts_with("ld");
    text += fmt::format("{} {}, {};\n", opcode, load ? value : place, load ? place : value);
  }
  return text;
}

struct Ran {
  std::vector<uint32_t> out;
  std::optional<Fault> fault;
};

inline Ran run(const std::vector<uint32_t>& in, const std::string& body, size_t out_words) {
  const std::string text =
      ".version 8.6\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 window[];\n"
      ".visible .entry kernel(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .pred %p<8>;\n.reg .b32 %r<32>, %a<16>, %s<128>;\n.reg .b64 %rd<16>;\n"
      "ld.param.u64 %rd3, [in];\nld.param.u64 %rd2, [out];\n"
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd1, %rd3, %rd4;\n"
      "add.s64 %rd2, %rd2, %rd4;\nmov.u32 %r2, window;\nshr.u32 %r11, %r2, 4;\n"
      "cvt.u64.u32 %rd11, %r11;\n" +
      body + "ret;\n}\n";
  Ran result;
  auto module = ptx::parse(text, "product.ptx");
  EXPECT_TRUE(module.ok()) << format(module.error());
  if (!module.ok()) return result;
  Machine machine(*find_device_model("b200"), Options{.workers = 1});
  auto program = machine.load(*module);
  EXPECT_TRUE(program.ok()) << format(program.error());
  if (!program.ok()) return result;
  uint64_t pointers[2] = {machine.memory().allocate(in.size() * 4),
                          machine.memory().allocate(out_words * 4)};
  std::memcpy(reinterpret_cast<void*>(pointers[0]), in.data(), in.size() * 4);
  Launch launch;
  launch.kernel = (*program)->find_kernel("kernel");
  launch.block = {.x = kThreads};
  launch.dynamic_shared = kShared;
  launch.parameters = std::as_bytes(std::span(pointers));
  auto ran = machine.run(launch);
  EXPECT_TRUE(ran.ok());
  if (ran.ok()) result.fault = *ran;
  result.out.resize(out_words);
  std::memcpy(result.out.data(), reinterpret_cast<const void*>(pointers[1]), out_words * 4);
  return result;
}

// Shared memory from the first words of `in`, and all of tensor memory: %r4 is its address, %r14
// that of the warp's lanes, %r12 an mbarrier, and %p1 holds in one thread.
inline std::string begin() {
  return fmt::format(
      "mov.u32 %r8, %r1;\nCopy:\nmul.wide.u32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, %rd5;\n"
      "ld.global.b32 %r9, [%rd6];\nshl.b32 %r10, %r8, 2;\nadd.s32 %r10, %r10, %r2;\n"
      "st.shared.b32 [%r10], %r9;\nadd.s32 %r8, %r8, {};\nsetp.lt.u32 %p1, %r8, {};\n"
      "@%p1 bra Copy;\nbar.sync 0;\nadd.u32 %r12, %r2, {};\nadd.u32 %r13, %r12, 8;\n"
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared::cta.b64 [%r12], 1;\n"
      "setp.lt.u32 %p2, %r1, 32;\n@!%p2 bra Taken;\n"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], 512;\n"
      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nTaken:\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\nld.shared.b32 %r4, [%r13];\n"
      "and.b32 %r14, %r1, 96;\nshl.b32 %r14, %r14, 16;\nadd.u32 %r14, %r14, %r4;\n",
      kThreads, kShared / 4, kBarrier);
}

// Words of every thread, from word `first` of its own, to columns of tensor memory.
inline std::string fill(const char* name, int first, int count, int column) {
  return move("ld.global.b32", "%rd1", name, first, count) +
         fmt::format("tcgen05.st.sync.aligned.32x32b.x{}.b32 [%r14+{}], {};\n", count, column,
                     registers(name, count));
}
inline constexpr const char* kFilled =
    "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
    "tcgen05.fence::after_thread_sync;\n";

// What one thread issues, its end, and the first `columns` columns to `out`.
inline std::string issue_and_fetch(const std::string& issued, int columns) {
  return "@!%p1 bra Issued;\n" + issued +
         "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r12];\nIssued:\n"
         "Wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p4, [%r12], 0;\n@!%p4 bra Wait;\n"
         "tcgen05.fence::after_thread_sync;\n" +
         fmt::format("tcgen05.ld.sync.aligned.32x32b.x{}.b32 {}, [%r14];\n", columns,
                     registers("s", columns)) +
         "tcgen05.wait::ld.sync.aligned;\n" + move("st.global.b32", "%rd2", "s", 0, columns) +
         "bar.sync 0;\n@!%p2 bra Done;\n"
         "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 512;\nDone:\n";
}

// Bits 46-48 of every descriptor of tcgen05.
inline constexpr uint64_t kVersion = uint64_t{1} << 46;

}  // namespace weft::emulator
