// SPDX-License-Identifier: Apache-2.0

// Every instruction of the language, by opcode. Each chapter's table is a function; adding a
// chapter is one line here and one in catalogue.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptxbench/isa/form.h"

namespace weft::isa {

std::span<const Form> integer_arithmetic();
std::span<const Form> extended_integer();
std::span<const Form> float_arithmetic();
std::span<const Form> half_arithmetic();
std::span<const Form> comparison();
std::span<const Form> logic_shift();
std::span<const Form> conversion();
std::span<const Form> data_movement();
std::span<const Form> async_copy();
std::span<const Form> tensor_copy();
std::span<const Form> control_flow();
std::span<const Form> atomics();
std::span<const Form> warp_exchange();
std::span<const Form> barriers();
std::span<const Form> mbarrier();
std::span<const Form> matrix();
std::span<const Form> warpgroup_matrix();
std::span<const Form> tensor_memory();
std::span<const Form> texture();
std::span<const Form> stack();
std::span<const Form> video();
std::span<const Form> hints();

struct Chapter {
  std::string_view name;  // the stem of its file
  std::span<const Form> forms;
};
std::span<const Chapter> chapters();  // in the manual's order

// The rows of an opcode, in table order; empty when there is no such opcode.
std::span<const Form* const> forms_of(std::string_view opcode);

// The rows whose modifiers these are.
std::vector<const Form*> match_modifiers(std::string_view opcode,
                                         std::span<const std::string_view> modifiers);

// Why match_modifiers finds nothing: what is unknown or missing, and what the nearest row allows.
struct Mismatch {
  std::string message;
  std::string hint;
  int modifier = -1;  // index of the offending modifier; -1: the opcode, or something is missing
};
Mismatch explain_mismatch(std::string_view opcode, std::span<const std::string_view> modifiers);

// Whether a module's target ("sm_90a") has the row's instruction. Variants: sm_90a has what sm_90
// has and more; sm_100f has what all members of its family have. An empty target has everything.
bool available(const Form& form, std::string_view target);

}  // namespace weft::isa
