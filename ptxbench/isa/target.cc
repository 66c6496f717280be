// SPDX-License-Identifier: Apache-2.0

// Which targets have which rows (PTX ISA 9.0, section 11.1.2). Targets of one family differ in the
// last digit of their number; sm_110 was called sm_101 before PTX 9.0 and is the same machine.
#include <charconv>

#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

struct Target {
  int number = 0;
  char variant = 0;  // 'a', 'f' or none
};

Target read_target(std::string_view text) {
  Target target;
  const std::size_t underscore = text.find('_');
  if (underscore == std::string_view::npos) return target;
  text.remove_prefix(underscore + 1);
  const auto end = std::from_chars(text.data(), text.data() + text.size(), target.number).ptr;
  if (end != text.data() + text.size()) target.variant = *end;
  if (target.number == 101) target.number = 110;
  return target;
}

bool has(const Target& module, const Target& row) {
  if (row.variant == 0) return module.number >= row.number;
  if (module.variant == 0) return false;
  const bool same_family = module.number / 10 == row.number / 10;
  return module.number == row.number || (module.number >= 100 && same_family);
}

}  // namespace

bool available(const Form& form, std::string_view target) {
  const Target module = read_target(target);
  if (module.number == 0) return true;
  std::string_view rest = form.targets;
  for (std::string_view one = take_word(rest); !one.empty(); one = take_word(rest)) {
    if (has(module, read_target(one))) return true;
  }
  return false;
}

}  // namespace weft::isa
