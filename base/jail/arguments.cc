// SPDX-License-Identifier: Apache-2.0

#include "base/jail/arguments.h"

#include <map>
#include <string_view>
#include <utility>

namespace weft::jail {
namespace {

struct Word {
  Mount::Kind kind;
  int operands;
  bool optional = false;
};

const std::map<std::string_view, Word> kMounts = {
    {"--bind", {Mount::Kind::Bind, 2}},
    {"--ro-bind", {Mount::Kind::ReadOnlyBind, 2}},
    {"--ro-bind-try", {Mount::Kind::ReadOnlyBind, 2, true}},
    {"--dev-bind", {Mount::Kind::DeviceBind, 2}},
    {"--dev", {Mount::Kind::Devices, 1}},
    {"--proc", {Mount::Kind::Proc, 1}},
    {"--tmpfs", {Mount::Kind::Temporary, 1}},
    {"--symlink", {Mount::Kind::Link, 2}},
    {"--remount-ro", {Mount::Kind::RemountReadOnly, 1}},
};

// Always the case in a jail, whether asked for or not; how many operands follow.
const std::map<std::string_view, int> kAlways = {
    {"--unshare-all", 0}, {"--die-with-parent", 0}, {"--new-session", 0}, {"--cap-drop", 1}};

}  // namespace

Arguments read_arguments(int count, char** values) {
  Arguments arguments;
  std::string size;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = values[i];
    if (word == "--") {
      arguments.program.assign(values + i + 1, values + count);
      break;
    }
    const auto mount = kMounts.find(word);
    const auto always = kAlways.find(word);
    const int operands = mount != kMounts.end()    ? mount->second.operands
                         : always != kAlways.end() ? always->second
                                                   : 1;
    if (i + operands >= count) {
      arguments.mistake = "an operand is missing: " + std::string(word);
      return arguments;
    }
    if (mount != kMounts.end()) {
      const bool two = mount->second.operands == 2;
      arguments.mounts.push_back({mount->second.kind, two ? values[i + 1] : "",
                                  values[i + operands], std::exchange(size, {}),
                                  mount->second.optional});
    } else if (word == "--size") {
      size = values[i + 1];
    } else if (word == "--chdir") {
      arguments.directory = values[i + 1];
    } else if (always == kAlways.end()) {
      arguments.mistake = "unknown word: " + std::string(word);
      return arguments;
    }
    i += operands;
  }
  if (arguments.program.empty()) arguments.mistake = "no program: it follows --";
  arguments.program.push_back(nullptr);
  return arguments;
}

}  // namespace weft::jail
