// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/sass_counts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ptxbench/problems/document.h"

namespace weft::judge {
namespace {

using problems::Node;

constexpr uint64_t kLanes = 32;

std::string_view first_word(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

// The product of the numbers in "64x256x16"; 0 when there is no such word.
double shape_of(std::string_view opcode) {
  while (!opcode.empty()) {
    const size_t dot = std::min(opcode.find('.'), opcode.size());
    const std::string_view word = opcode.substr(0, dot);
    opcode.remove_prefix(std::min(dot + 1, opcode.size()));
    if (word.find('x') == word.npos || word.find_first_not_of("0123456789x") != word.npos) continue;
    double product = 1, number = 0;
    for (const char c : word) {
      if (c == 'x') {
        product *= number;
        number = 0;
      } else {
        number = number * 10 + (c - '0');
      }
    }
    return product * number;
  }
  return 0;
}

// "HMMA.16816.F32": rows, columns and depth run together; these are the shapes there are.
double packed_shape_of(std::string_view opcode) {
  constexpr std::pair<std::string_view, double> kShapes[] = {
      {".16816", 16 * 8 * 16}, {".1688", 16 * 8 * 8},   {".1684", 16 * 8 * 4},
      {".16832", 16 * 8 * 32}, {".16864", 16 * 8 * 64}, {".884", 8 * 8 * 4}};
  for (const auto& [word, product] : kShapes) {
    const size_t at = opcode.find(word);
    if (at != opcode.npos && (at + word.size() == opcode.size() || opcode[at + word.size()] == '.'))
      return product;
  }
  return 0;
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The executions in which every predicate was true. A product is one instruction of a whole warp; a
// copy is issued by whichever threads the program elects, and counts once for its warp.
uint64_t true_warps(std::string_view opcode, uint64_t warps, uint64_t threads) {
  if (sass_target_group(opcode) == "wgmma") return std::min(warps, threads / kLanes);
  return std::min(warps, threads);
}

}  // namespace

Operations sass_operations_of(std::string_view opcode) {
  const std::string_view word = first_word(opcode);
  if (word.ends_with("GMMA")) return {Unit::Wgmma, 2 * shape_of(opcode) / 4, 0};
  if (one_of(word, {"HMMA", "DMMA", "QMMA"}))
    return {Unit::OtherTensor, 2 * packed_shape_of(opcode), 0};
  if (one_of(word, {"FFMA", "FFMA32I", "DFMA"})) return {Unit::Scalar, 0, 2};
  if (one_of(word, {"FADD", "FADD32I", "FMUL", "FMUL32I", "DADD", "DMUL", "MUFU"}))
    return {Unit::Scalar, 0, 1};
  if (one_of(word, {"HFMA2", "FFMA2"})) return {Unit::Scalar, 0, 4};
  if (one_of(word, {"HADD2", "HMUL2", "FADD2", "FMUL2"})) return {Unit::Scalar, 0, 2};
  return {};
}

std::string_view sass_target_group(std::string_view opcode) {
  const std::string_view word = first_word(opcode);
  if (word.ends_with("GMMA")) return "wgmma";
  if (one_of(word, {"UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED"})) return "tma";
  return {};
}

Result<std::vector<SassCount>> read_sass_counts(std::string text) {
  const problems::Document document = TRY(problems::Document::parse(std::move(text), "sass.json"));
  std::vector<SassCount> counts;
  for (const Node& item : TRY(Node(document).elements())) {
    const std::vector<Node> fields = TRY(item.elements());
    if (fields.size() != 4) return item.error("four fields are expected");
    SassCount& count = counts.emplace_back();
    count.function = TRY(fields[0].text());
    count.offset = static_cast<uint32_t>(TRY(fields[1].integer()));
    count.warps = static_cast<uint64_t>(TRY(fields[2].integer()));
    count.threads = static_cast<uint64_t>(TRY(fields[3].integer()));
  }
  return counts;
}

Result<EmulatorReport> name_instructions(const std::vector<SassCount>& counts,
                                         const Disassembly& code) {
  std::map<std::string, ExecutedKernel> kernels;
  for (const SassCount& count : counts) {
    const auto named = code.find(count.function);
    if (named == code.end())
      return Error("a function ran that the build did not produce: " + count.function);
    const auto instruction = named->second.find(count.offset);
    if (instruction == named->second.end()) {
      // Padding behind a function is listed too, and never runs.
      if (count.warps == 0) continue;
      return Error(fmt::format("an instruction ran that the build did not produce: {} at 0x{:x}",
                               count.function, count.offset));
    }
    ExecutedKernel& kernel = kernels[count.function];
    kernel.name = count.function;
    ExecutedInstruction executed;
    executed.opcode = instruction->second.opcode;
    executed.source_file = instruction->second.source_file;
    executed.source_line = instruction->second.source_line;
    executed.lanes = count.threads;
    executed.warps = true_warps(executed.opcode, count.warps, count.threads);
    kernel.instructions.push_back(std::move(executed));
  }
  EmulatorReport report;
  for (auto& [name, kernel] : kernels) {
    kernel.launches = 1;
    report.kernels.push_back(std::move(kernel));
  }
  return report;
}

}  // namespace weft::judge
