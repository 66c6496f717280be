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
    if (operations.unit == Unit::Tcgen05)
      use.target_operations += static_cast<double>(instruction.operations);
    if (operations.unit == Unit::OtherTensor)
      use.other_tensor_operations += operations.per_warp * warps;
    if (operations.unit == Unit::Scalar)
      use.scalar_operations += operations.per_lane * static_cast<double>(instruction.lanes);
    if (instruction.opcode.starts_with("mbarrier.")) use.mbarrier_warps += instruction.warps;
    const std::string_view group = target_group(instruction.opcode);
    if (group.empty() || instruction.warps == 0) continue;
    (group == "wgmma"     ? use.wgmma_warps
     : group == "tcgen05" ? use.tcgen05_warps
                          : use.tma_warps) += instruction.warps;
    use.targets.push_back({instruction.opcode, std::string(group), instruction.ptx_line,
                           instruction.source_file, instruction.source_line, instruction.warps,
                           instruction.lanes});
  }
  return use;
}

bool multiplies(const wire::Audit& audit) {
  return audit.wgmma_warps > 0 || audit.tcgen05_warps > 0;
}

const char* classify(const wire::Audit& audit) {
  if (!*audit.target_instructions_executed) return "absent";
  const bool multiplied = multiplies(audit), tma = audit.tma_warps > 0;
  if ((multiplied && !audit.products_effect) || (tma && !audit.copies_effect)) return "unverified";
  const double products = multiplied ? *audit.products_effect : 0;
  const double copies = tma ? *audit.copies_effect : 0;
  if (products == 0 && copies == 0) return "decorative";
  // Products that reach a part of the output only did no more than that part of the work.
  return std::min(*audit.share, products) >= kFullShare ? "full" : "partial";
}

}  // namespace

wire::Audit audit(const EmulatorReport& report, std::optional<double> workload_operations,
                  const Effects& effects) {
  wire::Audit audit;
  audit.share_threshold = kFullShare;
  audit.workload_operations = workload_operations;
  audit.fault = report.fault;
  audit.products_effect = effects.products;
  audit.copies_effect = effects.copies;
  for (const ExecutedKernel& kernel : report.kernels) {
    wire::KernelUse use = use_of(kernel);
    audit.wgmma_warps += use.wgmma_warps;
    audit.tcgen05_warps += use.tcgen05_warps;
    audit.mbarrier_warps += use.mbarrier_warps;
    audit.tma_warps += use.tma_warps;
    audit.target_operations += use.target_operations;
    audit.other_tensor_operations += use.other_tensor_operations;
    audit.scalar_operations += use.scalar_operations;
    audit.kernels.push_back(std::move(use));
  }
  audit.target_instructions_executed = multiplies(audit) || audit.tma_warps > 0;
  const double executed =
      audit.target_operations + audit.other_tensor_operations + audit.scalar_operations;
  const double whole = std::max(executed, workload_operations.value_or(0));
  if (whole <= 0) {
    audit.reason =
        "no floating-point operation was executed, and the task's own count is not known";
    return audit;
  }
  audit.share = audit.target_operations / whole;
  audit.share_class = classify(audit);
  if (audit.share_class == "unverified")
    audit.reason = "whether the results of the target instructions count was not found out";
  return audit;
}

}  // namespace weft::judge
