// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/readable_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace weft::judge {
namespace {

constexpr std::string_view kScratch = ".building/";

// Where the parameter list of a demangled function starts; its length when there is none. Template
// arguments and "(anonymous namespace)" have parentheses too.
size_t parameters(std::string_view name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
    if (depth == 0 && name[i] != ')') break;
  }
  return name.size();
}

}  // namespace

std::string source_name(std::string_view path) {
  const size_t at = path.rfind(kScratch);
  return std::string(at == std::string_view::npos ? path : path.substr(at + kScratch.size()));
}

std::string source_names(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    shown += source_name(text.substr(0, end));
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') {
      shown += ' ';
      text.remove_prefix(1);
    }
  }
  return shown;
}

std::string kernel_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || plain == nullptr) return mangled;
  std::string_view name = plain.get();
  name = name.substr(0, parameters(name));
  // The return type of a template comes first; kernels return nothing.
  if (name.starts_with("void ")) name.remove_prefix(5);
  return std::string(name);
}

}  // namespace weft::judge
