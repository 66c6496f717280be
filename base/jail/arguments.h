// SPDX-License-Identifier: Apache-2.0

// The command line of weft-jail: the part of bubblewrap's that base/sandbox.cc uses, with the same
// meaning, so that either can run a sandbox.
#pragma once

#include <string>
#include <vector>

namespace weft::jail {

struct Mount {
  enum class Kind {
    Bind,
    ReadOnlyBind,
    DeviceBind,
    Devices,
    Proc,
    Temporary,
    Link,
    RemountReadOnly
  };
  Kind kind = Kind::Bind;
  std::string source, target;  // Link: what it points to, and where it stands
  std::string size;            // Temporary: bytes; empty: no limit
  bool optional = false;       // a missing source is no mistake
};

struct Arguments {
  std::vector<Mount> mounts;  // in order: a later one lies over an earlier one
  std::string directory;
  std::vector<char*> program;  // ends with null
  std::string mistake;         // what is wrong with the line; empty: nothing
};

Arguments read_arguments(int count, char** values);

}  // namespace weft::jail
