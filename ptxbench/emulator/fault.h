// SPDX-License-Identifier: Apache-2.0

// What a judged program did wrong, and where. Part of the verdict: never an exception, never our
// bug.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::emulator {

enum class FaultKind : uint8_t {
  OutOfBounds,     // address in no allocation, or past the end of a window
  Misaligned,      // address not a multiple of the access size
  InvalidBarrier,  // wrong count, uninitialised mbarrier, thread count not a multiple of the warp
  Deadlock,        // every resident thread waits for something that cannot come
  DivergentInstruction,  // an .aligned instruction reached by part of a warp
  InvalidDescriptor,     // wgmma or tensor-map descriptor that the hardware would refuse
  InvalidInstruction,    // operands outside what the instruction allows
  TensorMemory,          // columns nobody allocated, lanes out of reach, too early for the commit
  RegisterInFlight,      // a register that a wgmma not waited for reads or writes
  Race,                  // two accesses to shared memory that nothing orders
  Uninitialised,         // shared memory that nobody has written is read
  MissingProxyFence,     // the async proxy reads what a thread wrote, without fence.proxy.async
  Trap,                  // trap, brkpt
  Assertion,             // __assertfail
  StackOverflow,         // recursion past the local memory of a thread
  Unsupported,           // an instruction the emulator does not execute yet
  TimeLimit,             // --max-seconds
  OutOfMemory,           // device malloc, or the host cannot hold the launch
};

std::string_view name(FaultKind kind);  // "out of bounds"

struct Fault {
  FaultKind kind = FaultKind::Trap;
  std::string message;  // fixed text first, values last
  std::string kernel;
  std::array<uint32_t, 3> block{};   // ctaid
  std::array<uint32_t, 3> thread{};  // tid of the first lane concerned
  uint32_t warp = 0, lane = 0;
  uint32_t ptx_line = 0;    // 1-based line of the PTX text; 0 unknown
  std::string instruction;  // the PTX line itself, without indentation
  std::string source_file;  // from .file; empty without -lineinfo
  uint32_t source_line = 0;
  uint64_t address = 0;            // of memory faults
  std::vector<std::string> notes;  // nearest allocation, barrier state, waiting warps
};

// Several lines of text, as `ptxbench emulate` prints them.
std::string format(const Fault& fault);

}  // namespace weft::emulator
