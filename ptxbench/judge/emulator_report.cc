// SPDX-License-Identifier: Apache-2.0

// The candidate runs in the process that writes this file, so nothing in it is trusted to be well
// formed; unknown fields are left alone, since the emulator may say more than is read here.
#include "ptxbench/judge/emulator_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ptxbench/judge/readable_names.h"
#include "ptxbench/problems/document.h"

namespace weft::judge {
namespace {

using problems::Node;

Result<std::string> text_or_empty(const Node& node, std::string_view name) {
  if (!node.has(name)) return std::string();
  return node.text(name);
}

Result<uint64_t> count_or_zero(const Node& node, std::string_view name) {
  if (!node.has(name)) return uint64_t{0};
  const Node value = TRY(node.member(name));
  // Addresses use all 64 bits.
  if (value.json().is_number_unsigned()) return value.json().get<uint64_t>();
  const int64_t number = TRY(value.integer());
  if (number < 0) return value.error("a count is negative");
  return static_cast<uint64_t>(number);
}

Result<double> number_or_zero(const Node& node, std::string_view name) {
  if (!node.has(name)) return 0.0;
  const Node value = TRY(node.member(name));
  return value.number();
}

Result<ExecutedInstruction> read_instruction(const Node& node) {
  ExecutedInstruction instruction;
  instruction.opcode = TRY(node.text("opcode"));
  instruction.ptx_line = static_cast<uint32_t>(TRY(count_or_zero(node, "ptx_line")));
  instruction.source_file = source_name(TRY(text_or_empty(node, "source_file")));
  instruction.source_line = static_cast<uint32_t>(TRY(count_or_zero(node, "source_line")));
  instruction.warps = TRY(count_or_zero(node, "warps"));
  instruction.lanes = TRY(count_or_zero(node, "lanes"));
  instruction.operations = TRY(count_or_zero(node, "operations"));
  return instruction;
}

Result<ExecutedKernel> read_kernel(const Node& node) {
  ExecutedKernel kernel;
  kernel.name = TRY(node.text("name"));
  kernel.launches = TRY(count_or_zero(node, "launches"));
  kernel.seconds = TRY(number_or_zero(node, "seconds"));
  kernel.module_digest = TRY(text_or_empty(node, "module"));
  const Node instructions = TRY(node.member("instructions"));
  for (const Node& instruction : TRY(instructions.elements())) {
    kernel.instructions.push_back(TRY(read_instruction(instruction)));
  }
  return kernel;
}

Result<std::vector<int64_t>> triple(const Node& node, std::string_view name) {
  std::vector<int64_t> values;
  if (!node.has(name)) return values;
  const Node list = TRY(node.member(name));
  for (const Node& element : TRY(list.elements())) values.push_back(TRY(element.integer()));
  return values;
}

Result<wire::FaultRecord> read_fault(const Node& node) {
  wire::FaultRecord fault;
  fault.kind = TRY(node.text("kind"));
  fault.message = TRY(text_or_empty(node, "message"));
  fault.kernel = TRY(text_or_empty(node, "kernel"));
  fault.block = TRY(triple(node, "block"));
  fault.thread = TRY(triple(node, "thread"));
  fault.ptx_line = static_cast<uint32_t>(TRY(count_or_zero(node, "ptx_line")));
  fault.instruction = TRY(text_or_empty(node, "instruction"));
  fault.source_file = source_name(TRY(text_or_empty(node, "source_file")));
  fault.source_line = static_cast<uint32_t>(TRY(count_or_zero(node, "source_line")));
  fault.address = TRY(count_or_zero(node, "address"));
  fault.text = TRY(text_or_empty(node, "text"));
  if (node.has("notes")) {
    const Node notes = TRY(node.member("notes"));
    for (const Node& note : TRY(notes.elements()))
      fault.notes.push_back(source_names(TRY(note.text())));
  }
  return fault;
}

}  // namespace

Result<EmulatorReport> read_emulator_report(std::string text, std::string file) {
  const problems::Document document =
      TRY(problems::Document::parse(std::move(text), std::move(file)));
  const Node root(document);
  const std::string schema = TRY(root.text("schema"));
  if (schema != "weft.emulate.report.v1") {
    return root.error(fmt::format("unknown report schema: \"{}\"", schema),
                      "weft.emulate.report.v1 is read");
  }
  EmulatorReport report;
  report.device = TRY(text_or_empty(root, "device"));
  const Node kernels = TRY(root.member("kernels"));
  for (const Node& kernel : TRY(kernels.elements()))
    report.kernels.push_back(TRY(read_kernel(kernel)));
  if (root.has("fault")) {
    const Node fault = TRY(root.member("fault"));
    report.fault = TRY(read_fault(fault));
  }
  report.problem = TRY(text_or_empty(root, "problem"));
  return report;
}

}  // namespace weft::judge
