// SPDX-License-Identifier: Apache-2.0

// What a jailed program may no longer do.
#pragma once

#include <string>

namespace weft::jail {

// No capability, now or after an execve. Empty, or what failed.
std::string drop_capabilities();

// System calls that a kernel's host code does not need and that attacks on the operating system
// begin with answer "not permitted"; so do sockets but local ones.
std::string filter_system_calls();

}  // namespace weft::jail
