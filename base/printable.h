// SPDX-License-Identifier: Apache-2.0

// Text from a stranger's file on a terminal: bytes that would steer the terminal or are no text at
// all are shown as \xNN.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// Keeps well-formed UTF-8 and tabs; shows every other control character, DEL and malformed byte as
// \xNN. A newline is kept only when `lines` says so.
std::string printable(std::string_view text, bool lines = false);

// Length in bytes of the UTF-8 character at the head of `text`; 0 when there is none well formed
// (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF) or `text` is empty.
size_t character_length(std::string_view text);

}  // namespace weft
