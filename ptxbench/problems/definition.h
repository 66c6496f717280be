// SPDX-License-Identifier: Apache-2.0

// A task as FlashInfer Trace states it: axes, inputs, outputs, constraints. What the schema has no
// field for (mask, tolerances, distribution) is read from tags "key:value".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/tensor.h"

namespace weft::problems {

struct Axis {
  std::string name;
  std::optional<int64_t> value;  // of a const axis; none for var
  std::string description;
};

struct TensorSpec {
  std::string name;
  std::vector<std::string> shape;  // axis names; empty for a scalar, which is passed by value
  DType dtype = DType::Float32;
  std::string description;

  bool scalar() const { return shape.empty(); }
};

struct Definition {
  std::string name;
  std::string op_type;
  std::string description;
  std::vector<std::string> tags;
  std::vector<Axis> axes;
  std::vector<TensorSpec> inputs, outputs;  // in call order
  std::vector<std::string> constraints;
  std::string reference;  // Python source, for readers and other tools
  std::string file;

  // The text behind "key:" of the first such tag; empty when there is none.
  std::string_view tag(std::string_view key) const;
  const Axis* find_axis(std::string_view axis) const;
  std::vector<std::string> axis_names() const;
};

Result<Definition> read_definition(std::string text, std::string file);

}  // namespace weft::problems
