// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/operations.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "ptxbench/judge/sass_counts.h"

namespace weft::judge {
namespace {

std::vector<std::string_view> words(std::string_view opcode) {
  std::vector<std::string_view> parts;
  while (!opcode.empty()) {
    const size_t dot = std::min(opcode.find('.'), opcode.size());
    parts.push_back(opcode.substr(0, dot));
    opcode.remove_prefix(std::min(dot + 1, opcode.size()));
  }
  return parts;
}

bool has(const std::vector<std::string_view>& parts, std::string_view word) {
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

// "m64n256k16" to the product of its three numbers; 0 when the word is no shape.
double shape_product(std::string_view word) {
  double product = 1;
  for (const char letter : {'m', 'n', 'k'}) {
    if (word.empty() || word[0] != letter) return 0;
    word.remove_prefix(1);
    double extent = 0;
    while (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0]))) {
      extent = extent * 10 + (word[0] - '0');
      word.remove_prefix(1);
    }
    product *= extent;
  }
  return word.empty() ? product : 0;
}

double tensor_operations(const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) {
    const double product = shape_product(part);
    if (product > 0) return 2 * product;
  }
  return 0;
}

// Elements in the type of a scalar instruction: 0 for integers, 2 for the packed types.
double float_elements(const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) {
    if (part == "f16x2" || part == "bf16x2" || part == "f32x2") return 2;
    if (part == "f16" || part == "bf16" || part == "f32" || part == "f64") return 1;
  }
  return 0;
}

// Operations of one element: 0 when the opcode is no arithmetic.
double scalar_operations(std::string_view opcode) {
  constexpr std::string_view kSingle[] = {"add",   "sub", "mul", "div", "rcp", "sqrt",
                                          "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"};
  if (opcode == "fma" || opcode == "mad") return 2;
  return std::find(std::begin(kSingle), std::end(kSingle), opcode) != std::end(kSingle) ? 1 : 0;
}

// PTX is written in small letters, machine code in capitals.
bool is_machine_opcode(std::string_view opcode) {
  return !opcode.empty() && std::isupper(static_cast<unsigned char>(opcode[0])) != 0;
}

}  // namespace

Operations operations_of(std::string_view opcode) {
  if (is_machine_opcode(opcode)) return sass_operations_of(opcode);
  const std::vector<std::string_view> parts = words(opcode);
  if (parts.empty()) return {};
  if (parts[0] == "wgmma") {
    if (!has(parts, "mma_async")) return {};
    return {Unit::Wgmma, tensor_operations(parts) / 4, 0};
  }
  if (opcode.starts_with("tcgen05.mma.")) return {Unit::Tcgen05, 0, 0};
  if (parts[0] == "mma" || (parts[0] == "wmma" && has(parts, "mma")))
    return {Unit::OtherTensor, tensor_operations(parts), 0};
  const double per_lane = scalar_operations(parts[0]) * float_elements(parts);
  return per_lane > 0 ? Operations{Unit::Scalar, 0, per_lane} : Operations{};
}

std::string_view target_group(std::string_view opcode) {
  if (is_machine_opcode(opcode)) return sass_target_group(opcode);
  const std::vector<std::string_view> parts = words(opcode);
  if (opcode.starts_with("wgmma.mma_async")) return "wgmma";
  if (opcode.starts_with("tcgen05.mma.")) return "tcgen05";
  const bool bulk =
      opcode.starts_with("cp.async.bulk.") || opcode.starts_with("cp.reduce.async.bulk.");
  if (bulk && !has(parts, "commit_group") && !has(parts, "wait_group") && !has(parts, "prefetch"))
    return "tma";
  return {};
}

}  // namespace weft::judge
