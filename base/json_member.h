// SPDX-License-Identifier: Apache-2.0

// Reading JSON that strangers wrote: what is missing or of another type reads as nothing.
#pragma once

#include <string>

#include "base/json.h"

namespace weft {

// The member of an object; null where there is none, or `json` is no object.
const Json& member(const Json& json, const char* name);
// The string; empty for everything else.
std::string text_of(const Json& json);

}  // namespace weft
