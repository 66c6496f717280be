// SPDX-License-Identifier: Apache-2.0

// Reads a definition and refuses what it does not know: a misspelt field would otherwise be a rule
// that nobody applies.
#include "ptxbench/problems/definition.h"

#include <fmt/format.h>

#include "base/near_match.h"
#include "ptxbench/problems/document.h"

namespace weft::problems {
namespace {

Result<std::string> optional_text(const Node& node, std::string_view field) {
  if (!node.has(field)) return std::string();
  return node.text(field);
}

Result<Axis> read_axis(const std::string& name, const Node& node) {
  TRY(node.only({"type", "value", "parent", "description"}));
  Axis axis;
  axis.name = name;
  axis.description = TRY(optional_text(node, "description"));
  const Node type = TRY(node.member("type"));
  const std::string kind = TRY(type.text());
  if (kind == "const") {
    const Node value = TRY(node.member("value"));
    axis.value = TRY(value.integer());
    if (*axis.value < 1)
      return value.error(fmt::format("axis value must be positive: {}", *axis.value));
  } else if (kind != "var") {
    return type.error(fmt::format("unknown axis type: \"{}\"", kind), "use \"const\" or \"var\"");
  }
  return axis;
}

Result<TensorSpec> read_tensor(const std::string& name, const Node& node,
                               const Definition& definition) {
  TRY(node.only({"shape", "dtype", "description"}));
  TensorSpec spec;
  spec.name = name;
  spec.description = TRY(optional_text(node, "description"));
  // A shape of null declares a scalar; a missing one is an oversight.
  const bool scalar = node.json().contains("shape") && !node.has("shape");
  std::vector<Node> extents;
  if (!scalar) {
    const Node shape = TRY(node.member("shape"));
    extents = TRY(shape.elements());
  }
  for (const Node& extent : extents) {
    const std::string axis = TRY(extent.text());
    if (definition.find_axis(axis) == nullptr) {
      return extent.error(fmt::format("shape names an axis that is not declared: \"{}\"", axis),
                          suggestion(axis, definition.axis_names(), "axes"));
    }
    spec.shape.push_back(axis);
  }
  const Node type = TRY(node.member("dtype"));
  const std::string spelled = TRY(type.text());
  const std::optional<DType> dtype = dtype_named(spelled);
  if (!dtype) {
    return type.error(
        fmt::format("element type is not supported: \"{}\"", spelled),
        "supported: float32, float16, bfloat16, float8_e4m3fn, int64, int32, int16, int8, bool");
  }
  spec.dtype = *dtype;
  return spec;
}

Result<std::vector<std::string>> texts(const Node& node, std::string_view field) {
  std::vector<std::string> words;
  if (!node.has(field)) return words;
  const Node list = TRY(node.member(field));
  for (const Node& element : TRY(list.elements())) words.push_back(TRY(element.text()));
  return words;
}

}  // namespace

std::string_view Definition::tag(std::string_view key) const {
  for (const std::string& tag : tags) {
    const std::string_view text = tag;
    if (text.starts_with(key) && text.size() > key.size() && text[key.size()] == ':') {
      return text.substr(key.size() + 1);
    }
  }
  return {};
}

const Axis* Definition::find_axis(std::string_view axis) const {
  for (const Axis& candidate : axes) {
    if (candidate.name == axis) return &candidate;
  }
  return nullptr;
}

std::vector<std::string> Definition::axis_names() const {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  return names;
}

Result<Definition> read_definition(std::string text, std::string file) {
  const Document document = TRY(Document::parse(std::move(text), file));
  const Node root(document);
  TRY(root.only({"name", "description", "op_type", "tags", "axes", "inputs", "outputs",
                 "constraints", "reference"}));
  Definition definition;
  definition.file = std::move(file);
  definition.name = TRY(root.text("name"));
  definition.op_type = TRY(root.text("op_type"));
  definition.description = TRY(optional_text(root, "description"));
  definition.tags = TRY(texts(root, "tags"));
  const Node axes = TRY(root.member("axes"));
  for (const Node& axis : TRY(axes.members())) {
    definition.axes.push_back(TRY(read_axis(axis.name(), axis)));
  }
  const Node inputs = TRY(root.member("inputs"));
  for (const Node& tensor : TRY(inputs.members())) {
    definition.inputs.push_back(TRY(read_tensor(tensor.name(), tensor, definition)));
  }
  const Node outputs = TRY(root.member("outputs"));
  for (const Node& tensor : TRY(outputs.members())) {
    definition.outputs.push_back(TRY(read_tensor(tensor.name(), tensor, definition)));
  }
  if (definition.outputs.empty()) {
    return outputs.error("a definition without outputs cannot be judged",
                         "declare at least one output");
  }
  definition.constraints = TRY(texts(root, "constraints"));
  definition.reference = TRY(root.text("reference"));
  return definition;
}

}  // namespace weft::problems
