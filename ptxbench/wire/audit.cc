// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/wire/audit.h"

#include <nlohmann/json.hpp>

namespace weft::wire {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json kernel_json(const KernelUse& kernel) {
  Json targets = Json::array();
  for (const InstructionUse& use : kernel.targets) {
    targets.push_back({{"opcode", use.opcode},
                       {"group", use.group},
                       {"ptx_line", use.ptx_line},
                       {"source_file", use.source_file},
                       {"source_line", use.source_line},
                       {"warps", use.warps},
                       {"lanes", use.lanes}});
  }
  return {{"name", kernel.name},
          {"launches", kernel.launches},
          {"seconds", kernel.seconds},
          {"wgmma_warps", kernel.wgmma_warps},
          {"tcgen05_warps", kernel.tcgen05_warps},
          {"tma_warps", kernel.tma_warps},
          {"mbarrier_warps", kernel.mbarrier_warps},
          {"target_operations", kernel.target_operations},
          {"other_tensor_operations", kernel.other_tensor_operations},
          {"scalar_operations", kernel.scalar_operations},
          {"targets", std::move(targets)}};
}

}  // namespace

std::string_view tensor_instruction(std::string_view family) {
  return family == "B" ? "tcgen05" : "wgmma";
}

Json to_json(const FaultRecord& fault) {
  return {{"kind", fault.kind},
          {"message", fault.message},
          {"kernel", fault.kernel},
          {"block", fault.block},
          {"thread", fault.thread},
          {"ptx_line", fault.ptx_line},
          {"instruction", fault.instruction},
          {"source_file", fault.source_file},
          {"source_line", fault.source_line},
          {"address", fault.address},
          {"notes", fault.notes},
          {"text", fault.text}};
}

Json to_json(const Audit& audit) {
  Json kernels = Json::array();
  for (const KernelUse& kernel : audit.kernels) kernels.push_back(kernel_json(kernel));
  Json stages = Json::array();
  for (const StageRecord& stage : audit.stages) {
    stages.push_back({{"stage", stage.stage},
                      {"passed", or_null(stage.passed)},
                      {"seconds", stage.seconds},
                      {"evidence", stage.evidence}});
  }
  Json json = {{"family", audit.family},
               {"target_instructions_executed", or_null(audit.target_instructions_executed)},
               {"share", or_null(audit.share)},
               {"share_class", audit.share_class.empty() ? Json(nullptr) : Json(audit.share_class)},
               {"share_threshold", audit.share_threshold},
               {"output_changed_without",
                {{tensor_instruction(audit.family), or_null(audit.products_effect)},
                 {"tma", or_null(audit.copies_effect)}}}};
  json["method"] = audit.method.empty() ? Json(nullptr) : Json(audit.method);
  if (!audit.reason.empty()) json["reason"] = audit.reason;
  json["executed"] = {{"wgmma_warps", audit.wgmma_warps},
                      {"tcgen05_warps", audit.tcgen05_warps},
                      {"tma_warps", audit.tma_warps},
                      {"mbarrier_warps", audit.mbarrier_warps}};
  json["operations"] = {{"target", audit.target_operations},
                        {"other_tensor", audit.other_tensor_operations},
                        {"scalar", audit.scalar_operations},
                        {"workload", or_null(audit.workload_operations)}};
  json["kernels"] = std::move(kernels);
  json["fault"] = audit.fault ? to_json(*audit.fault) : Json(nullptr);
  json["stages"] = std::move(stages);
  return json;
}

}  // namespace weft::wire
