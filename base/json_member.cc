// SPDX-License-Identifier: Apache-2.0

#include "base/json_member.h"

#include <nlohmann/json.hpp>

namespace weft {

const Json& member(const Json& json, const char* name) {
  static const Json nothing;
  if (!json.is_object()) return nothing;
  const auto found = json.find(name);
  return found == json.end() ? nothing : *found;
}

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

}  // namespace weft
