// SPDX-License-Identifier: Apache-2.0

// The names of exports.def that no other file defines: the same function under another name, and
// functions that are not served.
#include "ptxbench/cudart/forward.h"
#include "ptxbench/cudart/process.h"

#define SERVED(name)
#define FORWARDED(name, target) FORWARD(name, target)
#define REFUSED(name)                   \
  extern "C" int name() {               \
    return weft::cudart::refuse(#name); \
  }
#include "ptxbench/cudart/runtime/exports.def"
