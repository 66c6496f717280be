// SPDX-License-Identifier: Apache-2.0

// Text inside a page of HTML. Pages show names and messages that strangers chose.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// `&`, `<`, `>` and `"` as character references, fit for content and for quoted attributes.
std::string html_text(std::string_view text);

}  // namespace weft
