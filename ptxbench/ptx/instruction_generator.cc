// SPDX-License-Identifier: Apache-2.0

// Registers are chosen by the operand's name in the row and by the instruction's types.
#include "ptxbench/ptx/instruction_generator.h"

#include <algorithm>

#include "ptxbench/isa/types.h"

namespace weft::ptx {
namespace {

void expand(std::string_view set, std::string_view types, std::vector<std::string_view>& into) {
  for (std::string_view word = isa::take_word(set); !word.empty(); word = isa::take_word(set)) {
    if (word.front() == '<') {
      expand(isa::named_set(word, types), types, into);
    } else {
      into.push_back(word);
    }
  }
}

std::vector<std::string_view> words_of(const isa::Form& form, const isa::Form::Group& group) {
  std::vector<std::string_view> words;
  expand(form.words(group), form.types, words);
  return words;
}

std::string register_of(isa::Type type, int number) {
  const char* bank = "r";
  if (type == isa::Type::Pred) {
    bank = "p";
  } else if (type == isa::Type::F64) {
    bank = "fd";
  } else if (type == isa::Type::F32) {
    bank = "f";
  } else {
    switch (isa::bits(type)) {
      case 16:
        bank = "rs";
        break;
      case 64:
        bank = "rd";
        break;
      case 128:
        bank = "rq";
        break;
      default:
        break;
    }
  }
  return std::string("%") + bank + std::to_string(number);
}

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// An operand for a place: by its name where the name says what it is, else a register of the type.
std::string operand_text(const isa::Form& form, std::size_t place,
                         const std::vector<std::string_view>& modifiers, Random* random) {
  const std::string_view name = form.operand_name(place);
  const int number = random == nullptr ? 1 : static_cast<int>((*random)() % 4);
  isa::Type type = isa::Type::B32;
  std::vector<isa::Type> types;
  for (const std::string_view word : modifiers) {
    if (const auto found = isa::parse_type(word)) types.push_back(*found);
  }
  if (!types.empty()) type = place == 0 ? types.front() : types.back();
  std::string one = register_of(type, number);
  if (name == "p" || name == "q" || name == "enable" || name == "scale_d") one = "%p1";
  if (name == "policy" || name == "descriptor" || name == "state") one = "%rd1";
  // Products of tensor memory take descriptors of what lies in shared memory.
  if (form.opcode == "tcgen05" && (name == "a" || name == "b")) one = "%rd1";
  // Wide products are twice as wide as their factors, and so is what is added.
  if (contains(modifiers, "wide") && (place == 0 || name == "c"))
    one = isa::bits(type) == 16 ? "%r1" : "%rd1";
  if (name == "size" || name == "n" || name == "table" || name == "columns") one = "16";
  if (name == "targets" || name == "target") one = "L1";
  int width = 1;
  if (contains(modifiers, "v2")) width = 2;
  if (contains(modifiers, "v4")) width = 4;
  if (contains(modifiers, "v8")) width = 8;
  if (width > 1 && (name == "d" || name == "b")) {
    std::string vector = "{" + one;
    for (int i = 1; i < width; ++i) vector += ", " + register_of(type, i % 4);
    one = vector + "}";
  }
  switch (form.operands[place].shape) {
    case isa::OperandShape::Value:
      return one;
    case isa::OperandShape::Address:
      return name.find(',') == std::string_view::npos ? "[%rd1+16]" : "[%rd1, {%r0, %r1}]";
    case isa::OperandShape::Pair:
      return one + "|%p2";
    case isa::OperandShape::OptionalPair:
      return random != nullptr && (*random)() % 2 == 0 ? one + "|%p2" : one;
    case isa::OperandShape::List:
      return "(" + one + ")";
  }
  return one;
}

std::string assemble(const isa::Form& form, const std::vector<std::string_view>& modifiers,
                     Random* random) {
  std::string text(form.opcode);
  for (const std::string_view word : modifiers) {
    text += '.';
    text += word;
  }
  bool first = true;
  for (std::size_t place = 0; place < form.operand_count; ++place) {
    if (form.operands[place].optional && (random == nullptr || (*random)() % 2 == 0)) continue;
    text += first ? " " : ", ";
    first = false;
    text += operand_text(form, place, modifiers, random);
  }
  return text + ";";
}

}  // namespace

std::string random_instruction(const isa::Form& form, Random& random) {
  std::vector<std::string_view> modifiers;
  for (std::size_t g = 0; g < form.group_count; ++g) {
    if (form.groups[g].optional && random() % 2 == 0) continue;
    const auto words = words_of(form, form.groups[g]);
    modifiers.push_back(words[random() % words.size()]);
  }
  return assemble(form, modifiers, &random);
}

std::size_t variant_count(const isa::Form& form) {
  std::size_t count = 1;
  for (std::size_t g = 0; g < form.group_count; ++g) count += words_of(form, form.groups[g]).size();
  return count;
}

std::string variant(const isa::Form& form, std::size_t index) {
  std::vector<std::string_view> modifiers;
  std::size_t before = 1;
  for (std::size_t g = 0; g < form.group_count; ++g) {
    const auto words = words_of(form, form.groups[g]);
    const bool chosen = index >= before && index < before + words.size();
    if (chosen) {
      modifiers.push_back(words[index - before]);
    } else if (!form.groups[g].optional) {
      modifiers.push_back(words.front());
    }
    before += words.size();
  }
  return assemble(form, modifiers, nullptr);
}

std::string module_of(const std::vector<std::string>& instructions, const std::string& target) {
  std::string text =
      ".version 9.0\n.target " + target + "\n.address_size 64\n\n.visible .entry k()\n{\n";
  text += ".reg .pred %p<4>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n";
  text += ".reg .b128 %rq<4>;\n.reg .f32 %f<4>;\n.reg .f64 %fd<4>;\n";
  for (const std::string& instruction : instructions) text += instruction + "\n";
  return text + "L1:\nret;\n}\n";
}

}  // namespace weft::ptx
