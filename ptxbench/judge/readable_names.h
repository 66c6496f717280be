// SPDX-License-Identifier: Apache-2.0

// Names as their author wrote them, where a report has those of one build.
#pragma once

#include <string>
#include <string_view>

namespace weft::judge {

// The path of a source file relative to the candidate's folder: what a build's scratch folder
// (".../KEY.building/", see build_cache.h) put before it is cut off. Other paths stay as they are.
std::string source_name(std::string_view path);

// The same inside a sentence: every path in it.
std::string source_names(std::string_view text);

// A kernel without its mangling and without its parameters; as it is when it is not mangled
// (Itanium C++ ABI, section 5.1).
std::string kernel_name(const std::string& mangled);

}  // namespace weft::judge
