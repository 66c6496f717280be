// SPDX-License-Identifier: Apache-2.0

// The first stage: does the candidate do its own work? Libraries that would do it are refused in
// the source (comments and strings removed) and, decisively, in what the built object imports and
// names.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ptxbench/judge/candidate.h"

namespace weft::judge {

// Comments and the contents of string and character literals become blanks; lines keep their
// numbers.
std::string without_comments(std::string_view source);

Result<Done> screen_source(const Candidate& candidate);

// `object` is the built shared library.
Result<Done> screen_object(const std::string& object);

}  // namespace weft::judge
