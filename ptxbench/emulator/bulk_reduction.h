// SPDX-License-Identifier: Apache-2.0

// The element-wise reductions of cp.reduce.async.bulk (PTX ISA 9.0, section 9.7.9.25.4.2). Each
// element is combined atomically, because other blocks run on other workers.
#pragma once

#include <string_view>

#include "ptxbench/emulator/tensor_box.h"
#include "ptxbench/isa/types.h"

namespace weft::emulator {

// "and", "or", "xor", "add", "inc", "dec", "min" or "max" over elements of the type; nullptr when
// the manual does not list the combination. The address must be aligned to the element.
Combine find_reduction(std::string_view operation, isa::Type type);

// The type that a tensor reduction works in; untyped for bitwise operations.
isa::Type reduction_type(std::string_view operation, TensorElement element);

}  // namespace weft::emulator
