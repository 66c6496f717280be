// SPDX-License-Identifier: Apache-2.0

// For tests: runs short kernels around matrix instructions. Words go in and come out by register
// and thread: word r of thread t is in[r * threads + t].
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ptxbench/emulator/machine.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {

// "{%a0, %a1, %a2}"
inline std::string register_list(const char* name, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return list + "}";
}

// Loads words first ... first + count - 1 into %name0 ...; %rd1 points at the thread's word 0.
inline std::string load_registers(const char* name, int first, int count, int threads) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("ld.global.b32 %{}{}, [%rd1+{}];\n", name, i, (first + i) * threads * 4);
  return text;
}

// The other way, at %rd2.
inline std::string store_registers(const char* name, int count, int threads) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("st.global.b32 [%rd2+{}], %{}{};\n", i * threads * 4, name, i);
  return text;
}

struct MatrixProgram {
  int threads = 32;
  uint32_t shared = 0;  // dynamic bytes
  std::string body;     // registers a b c d s f x; r rd free from 8 on but 11, p all
  std::vector<uint32_t> in;
  size_t out_words = 0;
  Checks checks;

  std::vector<uint32_t> out;
  std::optional<Fault> fault;

  // %rd1, %rd2: in and out, at the thread's first word. %rd3: in itself. %r1: the thread. %r2: the
  // address of shared memory, %rd11: the same / 16, to add to descriptors.
  void run() {
    const std::string text =
        ".version 8.4\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 "
        "window[];\n"
        ".visible .entry kernel(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .pred %p<8>;\n.reg .b32 %r<32>, %a<16>, %b<16>, %c<16>, %d<16>, %s<128>;\n.reg .f32 "
        "%f<128>;\n"
        ".reg .b64 %rd<16>;\n.reg .f64 %x<40>;\n"
        "ld.param.u64 %rd3, [in];\ncvta.to.global.u64 %rd3, %rd3;\n"
        "ld.param.u64 %rd2, [out];\ncvta.to.global.u64 %rd2, %rd2;\n"
        "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd4, %r1, 4;\n"
        "add.s64 %rd1, %rd3, %rd4;\nadd.s64 %rd2, %rd2, %rd4;\nmov.u32 %r2, window;\n"
        "shr.u32 %r11, %r2, 4;\ncvt.u64.u32 %rd11, %r11;\n" +
        body + "ret;\n}\n";
    auto module = ptx::parse(text, "matrix.ptx");
    ASSERT_TRUE(module.ok()) << format(module.error());
    Machine machine(*find_device_model("h100"), Options{.workers = 1, .checks = checks});
    auto program = machine.load(*module);
    ASSERT_TRUE(program.ok()) << format(program.error());
    uint64_t pointers[2] = {machine.memory().allocate(in.size() * 4 + 4),
                            machine.memory().allocate(out_words * 4 + 4)};
    if (!in.empty()) std::memcpy(reinterpret_cast<void*>(pointers[0]), in.data(), in.size() * 4);
    std::memset(reinterpret_cast<void*>(pointers[1]), 0, out_words * 4);
    Launch launch;
    launch.kernel = (*program)->find_kernel("kernel");
    launch.block = {.x = static_cast<uint32_t>(threads)};
    launch.dynamic_shared = shared;
    launch.parameters = std::as_bytes(std::span(pointers));
    auto result = machine.run(launch);
    ASSERT_TRUE(result.ok()) << format(result.error());
    fault = *result;
    out.resize(out_words);
    if (out_words != 0)
      std::memcpy(out.data(), reinterpret_cast<const void*>(pointers[1]), out_words * 4);
  }
};

}  // namespace weft::emulator
