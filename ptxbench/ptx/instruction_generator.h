// SPDX-License-Identifier: Apache-2.0

// Text of instructions made from the instruction table: every choice of modifiers is one that the
// row allows. For tests and fuzzing; operands have the right shape, not always the right type.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "ptxbench/isa/form.h"

namespace weft::ptx {

using Random = std::mt19937_64;

// One instruction of the row, with its `;`. Optional modifiers and operands come and go at random.
std::string random_instruction(const isa::Form& form, Random& random);

// How many variants use each word of each group at least once, and the variant number `index` of
// them. Modifiers outside the chosen word are the first that the row allows; optional ones are left
// out.
std::size_t variant_count(const isa::Form& form);
std::string variant(const isa::Form& form, std::size_t index);

// A module whose kernel holds the instructions, with every name declared that they use.
std::string module_of(const std::vector<std::string>& instructions, const std::string& target);

}  // namespace weft::ptx
