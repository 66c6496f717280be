// SPDX-License-Identifier: Apache-2.0

// Suggestions for a word that is not in a list: the nearest known words by edit distance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

// At most `limit` known words, nearest first; words that share nothing with `word` are left out.
std::vector<std::string> near_matches(std::string_view word, const std::vector<std::string>& known,
                                      size_t limit = 4);

// "did you mean X or Y?", or "fields here: a, b, c" when nothing is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known,
                       std::string_view what);

}  // namespace weft
