// SPDX-License-Identifier: Apache-2.0

// Names and texts of errors, all from error_list.def.
#include "ptxbench/cudart/status.h"

#include <algorithm>
#include <iterator>

namespace weft::cudart {
namespace {

struct Entry {
  int code;
  const char* runtime_name;
  const char* driver_name;
  const char* text;
};

constexpr Entry kErrors[] = {
#define ERROR(code, runtime_name, driver_name, text) {code, runtime_name, driver_name, text},
#include "ptxbench/cudart/error_list.def"
#undef ERROR
};

const Entry* find(int code) {
  const Entry* found = std::lower_bound(std::begin(kErrors), std::end(kErrors), code,
                                        [](const Entry& e, int c) { return e.code < c; });
  return found != std::end(kErrors) && found->code == code ? found : nullptr;
}

}  // namespace

const char* runtime_error_name(int code) {
  const Entry* entry = find(code);
  return entry ? entry->runtime_name : nullptr;
}

const char* driver_error_name(int code) {
  const Entry* entry = find(code);
  return entry && entry->driver_name[0] ? entry->driver_name : nullptr;
}

const char* error_text(int code) {
  const Entry* entry = find(code);
  return entry ? entry->text : nullptr;
}

}  // namespace weft::cudart
