// SPDX-License-Identifier: Apache-2.0

// A hazard in words: those of compute-sanitizer where it has some.

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

namespace {

std::string thread_text(const Warp& warp, int lane) {
  uint32_t x = 0, y = 0, z = 0;
  warp.thread_index(lane, x, y, z);
  return fmt::format("({},{},{})", x, y, z);
}

std::string warp_text(const Cluster& cluster, const Block& block, uint32_t index) {
  const Warp& warp = *block.warps[index];
  const auto last = static_cast<int>(std::min(31u, block.threads - 32 * index - 1));
  const std::string rank =
      cluster.blocks.size() == 1 ? "" : fmt::format(" of block rank {}", block.rank);
  return fmt::format("warp {}{} (threads {} to {})", index, rank, thread_text(warp, 0),
                     thread_text(warp, last));
}

}  // namespace

std::string HazardCheck::who(Epoch epoch) const {
  const auto warp = [this](uint32_t agent) {
    const uint32_t i = agent - 1;
    return warp_text(*cluster_, *cluster_->blocks[i / warps_per_block_], i % warps_per_block_);
  };
  uint32_t agent = epoch.agent();
  if (agent == kTicketAgent)
    return "an asynchronous copy issued by " + warp(tickets_.issuer(epoch.time()));
  if (agent <= warps_.size()) return warp(agent);
  const AgentName& name = names_[agent - warps_.size() - 1];
  const std::string rank =
      cluster_->blocks.size() == 1 ? "" : fmt::format(" of block rank {}", name.rank);
  switch (name.kind) {
    case AgentName::Kind::LaneCopies:
    case AgentName::Kind::BulkCopies:
      return "an asynchronous copy issued by " +
             warp_text(*cluster_, *cluster_->blocks[name.rank], name.index);
    case AgentName::Kind::Warpgroup:
      return fmt::format("a wgmma of warps {} to {}{}", 4 * name.index, 4 * name.index + 3, rank);
    default:
      return "the tensor core" + rank;
  }
}

std::string HazardCheck::describe(const Warp& warp, Epoch epoch) const {
  const ptx::Instruction& at = *sites_[epoch.site()];
  std::string text = line_of_text(warp.block->grid->kernel->program->module(), at.position.line);
  text.erase(0, text.find_first_not_of(" \t"));
  return fmt::format("{}, ptx line {}{}: {}", who(epoch), at.position.line,
                     at.line.line == 0 ? "" : fmt::format(" (source line {})", at.line.line), text);
}

void HazardCheck::report(Warp& warp, const Op& op, int lane, const SharedRange& range,
                         const ShadowAccess& access, const Conflict& conflict) {
  const uint32_t offset = conflict.offset;
  const std::string place =
      cluster_->blocks.size() == 1
          ? fmt::format("__shared__ {:#x}", offset)
          : fmt::format("__shared__ {:#x} of block rank {}", offset, range.block->rank);
  using Kind = Conflict::Kind;
  if (conflict.kind == Kind::Uninitialised) {
    warp.fault(
        op, lane, FaultKind::Uninitialised,
        fmt::format("uninitialized __shared__ memory read of size {} at {}", range.bytes, place),
        offset,
        {access.async ? "nobody has written a byte of the operand in this block"
                      : "nobody has written the byte in this block"});
    return;
  }
  const std::string earlier = describe(warp, conflict.earlier);
  if (conflict.kind == Kind::MissingFence) {
    warp.fault(op, lane, FaultKind::MissingProxyFence,
               fmt::format("the async proxy reads {}, which the generic proxy wrote, without a "
                           "fence.proxy.async between",
                           place),
               offset,
               {"written by " + earlier,
                "the writer needs fence.proxy.async.shared::cta after the write and before the "
                "barrier at which the reader waits for it"});
    return;
  }
  const bool read_first = conflict.kind == Kind::WriteAfterRead;
  const std::string_view hazard = read_first                              ? "WAR"
                                  : conflict.kind == Kind::ReadAfterWrite ? "RAW"
                                                                          : "WAW";
  const std::string_view words = read_first                              ? "write after read"
                                 : conflict.kind == Kind::ReadAfterWrite ? "read after write"
                                                                         : "write after write";
  warp.fault(op, lane, FaultKind::Race,
             fmt::format("{} hazard detected at {}: {} that nothing orders", hazard, place, words),
             offset, {fmt::format("the {} before it: {}", read_first ? "read" : "write", earlier)});
}

}  // namespace weft::emulator
