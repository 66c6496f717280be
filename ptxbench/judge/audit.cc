// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/audit.h"

#include <algorithm>

#include "ptxbench/judge/operations.h"

namespace weft::judge {
namespace {

wire::KernelUse use_of(const ExecutedKernel& kernel) {
  wire::KernelUse use;
  use.name = kernel.name;
  use.launches = kernel.launches;
  use.seconds = kernel.seconds;
  for (const ExecutedInstruction& instruction : kernel.instructions) {
    const Operations operations = operations_of(instruction.opcode);
    const double warps = static_cast<double>(instruction.warps);
    if (operations.unit == Unit::Wgmma) use.target_operations += operations.per_warp * warps;
    if (operations.unit == Unit::OtherTensor)
      use.other_tensor_operations += operations.per_warp * warps;
    if (operations.unit == Unit::Scalar)
      use.scalar_operations += operations.per_lane * static_cast<double>(instruction.lanes);
    const std::string_view group = target_group(instruction.opcode);
    if (group.empty() || instruction.warps == 0) continue;
    (group == "wgmma" ? use.wgmma_warps : use.tma_warps) += instruction.warps;
    use.targets.push_back({instruction.opcode, std::string(group), instruction.ptx_line,
                           instruction.source_file, instruction.source_line, instruction.warps,
                           instruction.lanes});
  }
  return use;
}

}  // namespace

wire::Audit audit(const EmulatorReport& report, std::optional<double> workload_operations) {
  wire::Audit audit;
  audit.share_threshold = kFullShare;
  audit.workload_operations = workload_operations;
  audit.fault = report.fault;
  for (const ExecutedKernel& kernel : report.kernels) {
    wire::KernelUse use = use_of(kernel);
    audit.wgmma_warps += use.wgmma_warps;
    audit.tma_warps += use.tma_warps;
    audit.target_operations += use.target_operations;
    audit.other_tensor_operations += use.other_tensor_operations;
    audit.scalar_operations += use.scalar_operations;
    audit.kernels.push_back(std::move(use));
  }
  audit.target_instructions_executed = audit.wgmma_warps > 0 || audit.tma_warps > 0;
  const double executed =
      audit.target_operations + audit.other_tensor_operations + audit.scalar_operations;
  const double whole = std::max(executed, workload_operations.value_or(0));
  if (whole <= 0) {
    audit.reason =
        "no floating-point operation was executed, and the task's own count is not known";
    return audit;
  }
  audit.share = audit.target_operations / whole;
  audit.share_class = audit.target_operations <= 0      ? "absent"
                      : *audit.share < kDecorativeShare ? "decorative"
                      : *audit.share < kFullShare       ? "partial"
                                                        : "full";
  return audit;
}

}  // namespace weft::judge
