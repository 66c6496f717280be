// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/checks.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace weft::emulator {

namespace {

struct Named {
  std::string_view name;
  bool Checks::*member;  // nullptr: always on
};
constexpr Named kChecks[] = {{"memory", nullptr},     {"init", &Checks::init},
                             {"race", &Checks::race}, {"proxy", &Checks::proxy},
                             {"barrier", nullptr},    {"wgmma", &Checks::wgmma}};

}  // namespace

Result<Checks> parse_checks(std::string_view names) {
  Checks checks;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (name == "all") {
      checks = {.wgmma = true, .race = true, .init = true, .proxy = true};
      continue;
    }
    const auto* found = std::find_if(std::begin(kChecks), std::end(kChecks),
                                     [&](const Named& c) { return c.name == name; });
    if (found == std::end(kChecks))
      return Error("no check has this name: " + std::string(name),
                   "there are memory, init, race, proxy, barrier and wgmma, and all of them: all");
    if (found->member != nullptr) checks.*found->member = true;
  }
  return checks;
}

}  // namespace weft::emulator
