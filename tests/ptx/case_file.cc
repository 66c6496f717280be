// SPDX-License-Identifier: Apache-2.0

// Reads the `//!` lines of a case; README.md describes them.

#include "tests/ptx/case_file.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/floats.h"

namespace weft::ptx_cases {

namespace {

using isa::Type;

uint64_t encode_float(double value, Type type) {
  switch (type) {
    case Type::F64:
      return std::bit_cast<uint64_t>(value);
    case Type::F32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case Type::F16:
      return float_to_f16(static_cast<float>(value));
    case Type::Bf16:
      return float_to_bf16(static_cast<float>(value));
    default:
      return 0;
  }
}

Result<uint64_t> parse_bits(const std::string& word, Type type) {
  char* end = nullptr;
  uint64_t bits = 0;
  if (isa::is_float(type) && !word.starts_with("0x")) {
    bits = encode_float(std::strtod(word.c_str(), &end), type);
  } else if (word.starts_with("-")) {
    bits = static_cast<uint64_t>(std::strtoll(word.c_str(), &end, 0));
  } else {
    bits = std::strtoull(word.c_str(), &end, 0);
  }
  if (end == nullptr || *end != 0 || word.empty()) return Error("no value: " + word);
  const int width = isa::bits(type);
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

// "3", "x32", "0..31", "nan", "_".
Result<Done> append_values(const std::string& word, Item& item) {
  if (word == "nan") {
    item.values.push_back({.kind = Value::Kind::AnyNan});
  } else if (word == "_") {
    item.values.push_back({.kind = Value::Kind::Anything});
  } else if (word.starts_with("x")) {
    if (item.values.empty()) return Error("nothing to repeat: " + word);
    const auto count = std::strtoul(word.c_str() + 1, nullptr, 10);
    const Value last = item.values.back();
    for (unsigned long i = 1; i < count; ++i) item.values.push_back(last);
  } else if (const size_t dots = word.find(".."); dots != std::string::npos) {
    const long first = std::strtol(word.c_str(), nullptr, 10);
    const long last = std::strtol(word.c_str() + dots + 2, nullptr, 10);
    for (long i = first; i <= last; ++i)
      item.values.push_back({.bits = TRY(parse_bits(std::to_string(i), item.type))});
  } else {
    item.values.push_back({.bits = TRY(parse_bits(word, item.type))});
  }
  return Done{};
}

// "a.s32 = 1 2   b.f32 = 3": each "name.type =" begins an item.
Result<Done> parse_items(std::istringstream& words, Item::Role role, CaseFile& file) {
  std::string word;
  while (words >> word) {
    const size_t dot = word.find('.');
    const auto mark = words.tellg();
    std::string equals;
    const bool begins = dot != std::string::npos && (words >> equals) && equals == "=";
    if (begins) {
      const auto type = isa::parse_type(word.substr(dot + 1));
      if (!type) return Error("no type: " + word);
      const std::string name = word.substr(0, dot);
      const bool known = std::any_of(file.items.begin(), file.items.end(),
                                     [&](const Item& item) { return item.name == name; });
      file.items.push_back(
          {.role = known ? Item::Role::Expect : role, .name = name, .type = *type});
      continue;
    }
    words.clear();
    words.seekg(mark);
    if (file.items.empty()) return Error("a value before the first name: " + word);
    TRY(append_values(word, file.items.back()));
  }
  return Done{};
}

// "8 x 4": numbers up to the next comma; "x" only separates.
std::vector<uint64_t> parse_numbers(std::istringstream& words) {
  std::vector<uint64_t> numbers;
  std::string word;
  while (words >> word) {
    const bool last = word.ends_with(",");
    if (word != "x" && word != ",") numbers.push_back(std::strtoull(word.c_str(), nullptr, 0));
    if (last) break;
  }
  return numbers;
}

// "m = t 8 x 8, box 8 x 4, swizzle 128, fill nan, ...".
Result<Done> parse_map(std::istringstream& words, CaseFile& file) {
  Item item{.role = Item::Role::Map};
  std::string word;
  words >> item.name >> word >> item.of;
  item.extents = parse_numbers(words);
  while (words >> word) {
    if (word == "box")
      item.box = parse_numbers(words);
    else if (word == "strides")
      item.strides = parse_numbers(words);
    else if (word == "element_strides")
      item.element_strides = parse_numbers(words);
    else if (word == "swizzle")
      item.swizzle = static_cast<uint32_t>(parse_numbers(words).at(0));
    else if (word == "fill")
      item.fill_nan = static_cast<bool>(words >> word);
    else
      return Error("unknown part of a map: " + word);
  }
  file.items.push_back(std::move(item));
  return Done{};
}

// "t = a 8 x 4, channels 2, linear, normalized, floats, layers, cube, border".
Result<Done> parse_texture(std::istringstream& words, Item::Role role, CaseFile& file) {
  Item item{.role = role};
  std::string word;
  words >> item.name >> word >> item.of;
  item.extents = parse_numbers(words);
  constexpr std::string_view kModes[] = {"wrap", "clamp", "mirror", "border"};
  while (words >> word) {
    if (word.ends_with(",")) word.pop_back();
    const auto* mode = std::find(std::begin(kModes), std::end(kModes), word);
    if (mode != std::end(kModes))
      item.address_mode = static_cast<uint32_t>(mode - kModes);
    else if (word == "channels")
      item.channels = static_cast<uint32_t>(parse_numbers(words).at(0));
    else if (word == "linear")
      item.linear = true;
    else if (word == "normalized")
      item.normalized = true;
    else if (word == "floats")
      item.floats = true;
    else if (word == "layers")
      item.layered = true;
    else if (word == "cube")
      item.cube = true;
    else
      return Error("unknown part of a texture: " + word);
  }
  file.items.push_back(std::move(item));
  return Done{};
}

emulator::Extent parse_extent(std::istringstream& words) {
  const auto numbers = parse_numbers(words);
  const auto at = [&](size_t i) {
    return i < numbers.size() ? static_cast<uint32_t>(numbers[i]) : 1;
  };
  return {at(0), at(1), at(2)};
}

Result<Done> parse_launch(std::istringstream& words, CaseFile& file) {
  std::string word;
  while (words >> word) {
    if (word == "grid")
      file.grid = parse_extent(words);
    else if (word == "block")
      file.block = parse_extent(words);
    else if (word == "cluster")
      file.cluster = parse_extent(words);
    else if (word == "shared")
      file.shared = parse_extent(words).x;
    else
      return Error("unknown part of a launch: " + word);
  }
  return Done{};
}

std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest;
}

Result<Done> parse_line(std::istringstream& words, CaseFile& file) {
  std::string keyword;
  words >> keyword;
  if (keyword == "case")
    file.title = rest_of(words);
  else if (keyword == "from")
    rest_of(words);
  else if (keyword == "only")
    file.only_emulator = true;
  else if (keyword == "order")
    file.only_plain_order = true;
  else if (keyword == "races")
    file.races = true;
  else if (keyword == "device")
    words >> file.device;
  else if (keyword == "launch")
    TRY(parse_launch(words, file));
  else if (keyword == "in")
    TRY(parse_items(words, Item::Role::In, file));
  else if (keyword == "out")
    TRY(parse_items(words, Item::Role::Out, file));
  else if (keyword == "value")
    TRY(parse_items(words, Item::Role::Value, file));
  else if (keyword == "data")
    TRY(parse_items(words, Item::Role::Data, file));
  else if (keyword == "map")
    TRY(parse_map(words, file));
  else if (keyword == "texture")
    TRY(parse_texture(words, Item::Role::Texture, file));
  else if (keyword == "surface")
    TRY(parse_texture(words, Item::Role::Surface, file));
  else if (keyword == "check")
    file.checks = rest_of(words);
  else if (keyword == "refused")
    file.refused = rest_of(words);
  else if (keyword == "fault") {
    const std::string text = rest_of(words);
    const size_t colon = text.find(": ");
    file.fault_kind = text.substr(0, colon);
    if (colon != std::string::npos) file.fault_text = text.substr(colon + 2);
  } else {
    return Error("unknown keyword of a case: " + keyword);
  }
  return Done{};
}

}  // namespace

Result<CaseFile> parse_case(std::string text) {
  CaseFile file;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with("//!")) continue;
    std::istringstream words(line.substr(3));
    TRY(parse_line(words, file));
  }
  file.text = std::move(text);
  return file;
}

}  // namespace weft::ptx_cases
