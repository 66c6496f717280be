// SPDX-License-Identifier: Apache-2.0

#include "base/printable.h"

#include <cstdint>

namespace weft {

size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const uint32_t head = byte(0);
  if (head < 0x80) return 1;
  const size_t length = head >= 0xf0 ? 4 : head >= 0xe0 ? 3 : 2;
  if (head < 0xc2 || head > 0xf4 || text.size() < length) return 0;
  uint32_t point = head & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  if (length == 3 && (point < 0x800 || (point >= 0xd800 && point < 0xe000))) return 0;
  if (length == 4 && (point < 0x10000 || point > 0x10ffff)) return 0;
  return length;
}

std::string printable(std::string_view text, bool lines) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto head = static_cast<unsigned char>(text.front());
    size_t length = character_length(text);
    // C1 control characters, U+0080 to U+009F, are two bytes from 0xc2 on.
    const bool control =
        head < 0x20 || head == 0x7f ||
        (length == 2 && head == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0);
    const bool kept = head == '\t' || (head == '\n' && lines) || (length != 0 && !control);
    if (length == 0) length = 1;
    for (size_t i = 0; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (kept) {
        shown += text[i];
      } else {
        shown += "\\x";
        shown += kDigits[byte >> 4];
        shown += kDigits[byte & 15];
      }
    }
    text.remove_prefix(length);
  }
  return shown;
}

}  // namespace weft
