// SPDX-License-Identifier: Apache-2.0

// What verbs print: errors to the standard error, tables with columns as wide as their content.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace weft::ptxbench {

void print(const std::string& text);  // to the standard output
void print_json(const Json& value);
int fail(const Error& error, int exit_code);  // prints and returns the code

using Row = std::vector<std::string>;
// The first row is the heading. The last column is not padded.
std::string table(const std::vector<Row>& rows);

std::string percent(double share);  // "97.3 %"

}  // namespace weft::ptxbench
