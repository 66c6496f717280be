// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/fault.h"

#include <fmt/format.h>

#include <iterator>

namespace weft::emulator {

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::OutOfBounds:
      return "out of bounds";
    case FaultKind::Misaligned:
      return "misaligned address";
    case FaultKind::InvalidBarrier:
      return "invalid use of a barrier";
    case FaultKind::Deadlock:
      return "deadlock";
    case FaultKind::DivergentInstruction:
      return "aligned instruction in diverged code";
    case FaultKind::InvalidDescriptor:
      return "invalid descriptor";
    case FaultKind::InvalidInstruction:
      return "invalid operands";
    case FaultKind::TensorMemory:
      return "misuse of tensor memory";
    case FaultKind::RegisterInFlight:
      return "register of a wgmma in flight";
    case FaultKind::Race:
      return "race";
    case FaultKind::Uninitialised:
      return "uninitialized read";
    case FaultKind::MissingProxyFence:
      return "missing proxy fence";
    case FaultKind::Trap:
      return "trap";
    case FaultKind::Assertion:
      return "assertion failed";
    case FaultKind::StackOverflow:
      return "stack overflow";
    case FaultKind::Unsupported:
      return "unsupported instruction";
    case FaultKind::TimeLimit:
      return "time limit";
    case FaultKind::OutOfMemory:
      return "out of memory";
  }
  return "fault";
}

std::string format(const Fault& fault) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "fault: {}: {}\n", name(fault.kind), fault.message);
  if (!fault.source_file.empty())
    fmt::format_to(out, "  at {}:{}\n", fault.source_file, fault.source_line);
  if (fault.ptx_line != 0)
    fmt::format_to(out, "  ptx line {}: {}\n", fault.ptx_line, fault.instruction);
  fmt::format_to(out, "  in kernel {}, block ({},{},{}), thread ({},{},{}), warp {} lane {}\n",
                 fault.kernel, fault.block[0], fault.block[1], fault.block[2], fault.thread[0],
                 fault.thread[1], fault.thread[2], fault.warp, fault.lane);
  for (const std::string& note : fault.notes) fmt::format_to(out, "  note: {}\n", note);
  return text;
}

}  // namespace weft::emulator
