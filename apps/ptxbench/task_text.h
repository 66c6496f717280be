// SPDX-License-Identifier: Apache-2.0

// A server's answer about a task, for people.
#pragma once

#include <string>

#include "base/json.h"

namespace weft::ptxbench {

std::string task_text(const Json& task);

// Every verdict of an ended task passed, and there is one.
bool all_passed(const Json& task);

}  // namespace weft::ptxbench
