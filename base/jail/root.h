// SPDX-License-Identifier: Apache-2.0

// The file system that a jailed program sees, built from nothing.
#pragma once

#include <string>
#include <vector>

#include "base/jail/arguments.h"

namespace weft::jail {

// Called in new mount and process namespaces. Empty, or what failed.
std::string enter_new_root(const std::vector<Mount>& mounts);

}  // namespace weft::jail
