// SPDX-License-Identifier: Apache-2.0

// How far an output may lie from the reference. Values come in layers, each over the one before:
// global (the defaults below), operation (a table in tolerance.cc), definition (its tags, which
// generate.py takes from what was measured). A verdict records the values in force and their
// layers. A request cannot change them: verdicts of one task are comparable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptxbench/problems/definition.h"

namespace weft::problems {

struct Tolerance {
  enum class Kind : uint8_t {
    MatchedRatio,  // |error| <= absolute + relative |expected| for matched_ratio of the elements
    RelativeNorm,  // norm of the error <= norm_limit times the norm of the expected values
  };
  Kind kind = Kind::MatchedRatio;
  double absolute = 1e-2, relative = 1e-2;
  double matched_ratio = 0.999;
  double norm_limit = 1e-2;
  // However few the wrong elements are, none may be wrong by more than this many tolerances (taken
  // at the root mean square of the tensor), so that one wrong row of thousands is seen.
  double outlier_factor = 10;
  // RelativeNorm only: the same bound for each row (last axis), where most of a tensor could hide
  // it.
  double row_norm_limit = 0.1;

  std::map<std::string, std::string, std::less<>> layers;  // field to layer; absent: global
  std::string reason;  // where the definition says its values come from

  // "norm_limit 0.012 (definition), row_norm_limit 0.1 (global); measured: ..."
  std::string origin() const;
};

// Tags of a definition: "tolerance.O:relative_norm norm_limit=0.012" and "tolerance_origin.O:...".
Result<Tolerance> tolerance_of(const Definition& definition, const TensorSpec& output);

// The precision that an error of this relative norm speaks of, from the errors that the definition
// says implementations of each class make (tag "errors.O:fp32=1.7e-3 ... fp8=4e-2"). Classes whose
// errors are alike are named together: "fp32/tf32". Nothing where the tag is missing, where all
// classes are alike, and where the error is larger than any class explains.
std::optional<std::string> precision_class(const Definition& definition, const TensorSpec& output,
                                           double relative_norm);

}  // namespace weft::problems
