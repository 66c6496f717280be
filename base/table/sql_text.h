// SPDX-License-Identifier: Apache-2.0

// Names and texts inside SQL, quoted so that no value of a user can end them early.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::table {

std::string quoted_name(std::string_view name);                  // a "b"  ->  "a ""b"""
std::string quoted_text(std::string_view text);                  // it's   ->  'it''s'
std::string quoted_list(const std::vector<std::string>& texts);  // ['a', 'b']

}  // namespace weft::table
