// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/static_use.h"

#include "ptxbench/isa/form.h"
#include "ptxbench/ptx/parse.h"

namespace weft::judge {
namespace {

// The families that belong to an architecture; the rest is common to all.
std::string_view group_of(const ptx::Instruction& instruction) {
  using Family = isa::InstructionFamily;
  switch (instruction.form->family) {
    case Family::Wgmma:
      return "wgmma";
    case Family::BulkCopy:
    case Family::TensorCopy:
      return "tma";
    case Family::TensorMap:
      return "tensor_map";
    case Family::Tcgen05:
      return "tcgen05";
    case Family::Mma:
    case Family::Wmma:
      return "mma";
    case Family::LdMatrix:
      return "ldmatrix";
    case Family::AsyncCopy:
      return "cp_async";
    case Family::Mbarrier:
      return "mbarrier";
    case Family::Cluster:
    case Family::ClusterBarrier:
      return "cluster";
    case Family::RegisterCount:
      return "setmaxnreg";
    case Family::DependentLaunch:
      return "dependent_launch";
    default:
      return {};
  }
}

std::string source_path(const ptx::Module& module, uint32_t index) {
  for (const ptx::SourceFile& file : module.files) {
    if (file.index == index && index != 0) return file.path;
  }
  return "";
}

}  // namespace

Result<StaticUse> static_use(const std::string& ptx, const std::string& file) {
  const std::shared_ptr<const ptx::Module> module = TRY(ptx::parse(ptx, file));
  StaticUse use;
  use.virtual_arch =
      module->target.starts_with("sm_") ? "compute_" + module->target.substr(3) : module->target;
  for (const ptx::Function& function : module->functions) {
    for (const ptx::Statement& statement : function.body) {
      const auto* instruction = std::get_if<ptx::Instruction>(&statement);
      if (instruction == nullptr) continue;
      ++use.instruction_counts[std::string(instruction->opcode)];
      const std::string_view group = group_of(*instruction);
      if (group.empty()) continue;
      ++use.architecture_counts[std::string(group)];
      use.architecture.push_back(
          {std::string(group), instruction->spelling(), function.name, instruction->position.line,
           source_path(*module, instruction->line.file), instruction->line.line});
    }
  }
  return use;
}

}  // namespace weft::judge
