// SPDX-License-Identifier: Apache-2.0

// Declarations of variables, registers and parameters, and initialisers (PTX ISA 9.0, section 5.4).
#include <algorithm>
#include <limits>

#include "ptxbench/ptx/parser.h"

namespace weft::ptx {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 40;

bool is_power_of_two(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

// Bytes of one element, without the vector width.
uint64_t element_bytes(isa::Type type) {
  const int bits = isa::bits(type);
  if (type == isa::Type::Texref || type == isa::Type::Samplerref || type == isa::Type::Surfref)
    return 8;
  return bits < 8 ? 1 : static_cast<uint64_t>(bits) / 8;
}

uint64_t natural_alignment(const Variable& variable) {
  return element_bytes(variable.type) * variable.vector_width;
}

}  // namespace

uint64_t Variable::size() const {
  uint64_t bytes = element_bytes(type) * vector_width;
  for (const uint64_t extent : dimensions) {
    if (extent != 0 && bytes > std::numeric_limits<uint64_t>::max() / extent) {
      return std::numeric_limits<uint64_t>::max();
    }
    bytes *= extent;
  }
  return bytes;
}

bool Parser::check_size(const Variable& variable) {
  if (variable.size() <= kMaxBytes) return true;
  return fail(variable.position, "variable larger than any memory: " + variable.name);
}

// `.v4 .f32`, in the order that PTX writes them.
bool Parser::parse_type(isa::Type& type, uint8_t& vector_width) {
  vector_width = 1;
  if (peek().is_directive("v2") || peek().is_directive("v4") || peek().is_directive("v8")) {
    vector_width = static_cast<uint8_t>(take().text[1] - '0');
  }
  if (peek().kind == Token::Kind::Dotted) {
    if (const auto found = isa::parse_type(peek().text)) {
      take();
      type = *found;
      return true;
    }
  }
  return fail_here("a type such as .b32");
}

bool Parser::parse_attribute(Variable& variable) {
  if (!expect('(', "after .attribute")) return false;
  do {
    if (accept_directive("managed")) {
      variable.managed = true;
    } else if (accept_directive("unified")) {
      uint32_t half = 0;
      if (accept('(')) {
        if (!expect_u32(half, "a number") || !expect(',', "between the halves of the identifier") ||
            !expect_u32(half, "a number") || !expect(')', "after .unified")) {
          return false;
        }
      }
    } else {
      return fail_here(".managed or .unified");
    }
  } while (accept(','));
  return expect(')', "after the attributes");
}

bool Parser::parse_dimensions(Variable& variable) {
  while (accept('[')) {
    if (accept(']')) {
      if (!variable.dimensions.empty()) {
        return fail(peek().position, "only the first extent of an array may be left out");
      }
      variable.dimensions.push_back(0);
      continue;
    }
    const SourcePosition at = peek().position;
    int64_t extent = 0;
    if (!parse_integer(extent) || !expect(']', "after an array's extent")) return false;
    if (extent <= 0) return fail(at, "array extent is not positive: " + std::to_string(extent));
    if (variable.dimensions.size() == 16) return fail(at, "array with more than 16 dimensions");
    variable.dimensions.push_back(static_cast<uint64_t>(extent));
  }
  return true;
}

// Everything between the state space and the `;`. Several names may share one declaration.
bool Parser::parse_variables(Linkage linkage, isa::Space space, std::vector<Variable>& into,
                             bool in_function) {
  Variable pattern;
  pattern.space = space;
  pattern.linkage = linkage;
  if (accept('[')) {  // `.const[2]`: banks of old PTX
    int64_t bank = 0;
    if (!parse_integer(bank) || !expect(']', "after the bank")) return false;
  }
  while (peek().is_directive("align") || peek().is_directive("attribute")) {
    if (take().text == "attribute") {
      if (!parse_attribute(pattern)) return false;
      continue;
    }
    const SourcePosition at = peek().position;
    if (!expect_u32(pattern.alignment, "an alignment in bytes")) return false;
    if (!is_power_of_two(pattern.alignment)) {
      return fail(at, "alignment is no power of two: " + std::to_string(pattern.alignment));
    }
  }
  if (!parse_type(pattern.type, pattern.vector_width)) return false;
  if (pattern.alignment == 0) pattern.alignment = static_cast<uint32_t>(natural_alignment(pattern));
  do {
    Variable variable = pattern;
    variable.position = peek().position;
    std::string_view name;
    if (!expect_name(name, "the name of a variable")) return false;
    variable.name = name;
    uint32_t copies = 0;
    if (accept('<')) {  // `.param .b32 p<3>` declares p0 p1 p2
      if (!expect_u32(copies, "a count") || !expect('>', "after the count")) return false;
      if (copies == 0 || copies > 4096)
        return fail(variable.position, "count is not between 1 and 4096");
    }
    if (!parse_dimensions(variable)) return false;
    if (accept('=') && !parse_initializer(variable)) return false;
    if (!variable.initial.empty() && !variable.dimensions.empty() && variable.dimensions[0] == 0) {
      uint64_t rest = variable.vector_width;
      for (std::size_t i = 1; i < variable.dimensions.size(); ++i) rest *= variable.dimensions[i];
      variable.dimensions[0] = (variable.initial.size() + rest - 1) / rest;
    }
    if (!check_size(variable)) return false;
    for (uint32_t copy = 0; copy < std::max(copies, 1u); ++copy) {
      const auto index = static_cast<uint32_t>(into.size());
      Variable one = variable;
      if (copies != 0) one.name += std::to_string(copy);
      if (in_function) {
        // The name lives in the text, or is made here and kept by the list of made names.
        const std::string_view key =
            copies == 0 ? name : *made_names_.insert(made_names_.end(), one.name);
        if (!declare(key, {Names::Kind::Variable, index}, variable.position)) return false;
        function_->body.push_back(VariableDeclaration{index});
      } else {
        const auto [known, fresh] =
            globals_.try_emplace(name, Global{Global::Kind::Variable, index});
        if (!fresh) {
          if (known->second.kind == Global::Kind::Function) {
            return fail(variable.position, "a function has this name too: " + one.name);
          }
          const Variable& earlier = into[known->second.index];
          if (earlier.linkage != Linkage::Extern && linkage != Linkage::Extern &&
              linkage != Linkage::Weak && linkage != Linkage::Common) {
            return fail(variable.position, "variable declared twice: " + one.name);
          }
          if (earlier.linkage == Linkage::Extern) known->second.index = index;
        }
      }
      into.push_back(std::move(one));
    }
  } while (accept(','));
  return expect(';', "at the end of a declaration");
}

bool Parser::parse_initializer(Variable& variable) {
  if (!peek().is('{')) return parse_initial_value(variable);
  if (variable.type == isa::Type::Samplerref || variable.type == isa::Type::Texref ||
      variable.type == isa::Type::Surfref) {
    return parse_sampler_fields(variable);
  }
  return parse_initial_level(variable, 0);
}

// `{ addr_mode_0 = wrap, filter_mode = nearest }`: read and forgotten, as nothing uses them.
bool Parser::parse_sampler_fields(Variable&) {
  take();
  do {
    std::string_view field;
    if (!expect_name(field, "a field of the reference") || !expect('=', "after the field"))
      return false;
    if (peek().kind != Token::Kind::Identifier && peek().kind != Token::Kind::Integer) {
      return fail_here("the field's value");
    }
    take();
  } while (accept(','));
  return expect('}', "after the fields");
}

// One pair of braces. Rows that are short are filled with zeros, so that the list stays in row
// order.
bool Parser::parse_initial_level(Variable& variable, std::size_t level) {
  if (level > 16) return fail(peek().position, "initialiser nested too deeply");
  constexpr uint64_t kMaxFill = 1 << 20;
  take();
  ++open_braces_;
  const std::size_t first = variable.initial.size();
  while (!peek().is('}')) {
    if (peek().is('{')) {
      const std::size_t row_begin = variable.initial.size();
      if (!parse_initial_level(variable, level + 1)) return false;
      uint64_t row = variable.vector_width;
      for (std::size_t i = level + 1; i < variable.dimensions.size() && row < kMaxFill; ++i) {
        row *= variable.dimensions[i];
      }
      const uint64_t have = variable.initial.size() - row_begin;
      if (have > row) return fail(peek().position, "more values than the row of an array holds");
      if (variable.initial.size() + (row - have) > kMaxFill && row != have) {
        return fail(peek().position, "initialiser leaves too many elements out");
      }
      variable.initial.resize(row_begin + row);
    } else if (!parse_initial_value(variable)) {
      return false;
    }
    if (!accept(',')) break;
  }
  if (!expect('}', "at the end of an initialiser")) return false;
  --open_braces_;
  if (level == 0 && variable.initial.size() == first) variable.initial.emplace_back();
  return true;
}

// A number, `symbol+8`, `generic(symbol)+8`, or `0xff00(symbol)`.
bool Parser::parse_initial_value(Variable& variable) {
  InitialValue value;
  const bool is_name = peek().kind == Token::Kind::Identifier && peek().text != "WARP_SZ";
  int closing = 0;
  if (!is_name) {
    if (!parse_constant(value.constant)) return false;
    if (!peek().is('(')) {
      variable.initial.push_back(std::move(value));
      return true;
    }
    take();
    value.mask = value.constant.bits;
    value.constant = {};
    ++closing;
  }
  std::string_view name;
  if (!expect_name(name, "the name of a variable or function")) return false;
  if (name == "generic" && accept('(')) {
    value.generic = true;
    ++closing;
    if (!expect_name(name, "the name of a variable or function")) return false;
  }
  value.symbol = name;
  const auto offset = [&] {
    if (!peek().is('+') && !peek().is('-')) return true;
    const bool minus = take().is('-');
    int64_t bytes = 0;
    if (!parse_integer(bytes)) return false;
    const uint64_t wrapped =
        static_cast<uint64_t>(value.offset) +
        (minus ? 0 - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes));
    value.offset = static_cast<int64_t>(wrapped);
    return true;
  };
  if (!offset()) return false;
  for (; closing > 0; --closing) {
    if (!expect(')', "after a symbol")) return false;
    if (!offset()) return false;
  }
  variable.initial.push_back(std::move(value));
  return true;
}

bool Parser::add_register(std::string name, isa::Type type, uint8_t width, SourcePosition at) {
  if (++register_total_ > kMaxRegisters) return fail(at, "too many registers in one module");
  function_->registers.push_back({std::move(name), type, width});
  return true;
}

// `.reg .b32 %r<7>, %x;`
bool Parser::parse_registers() {
  isa::Type type = isa::Type::None;
  uint8_t width = 1;
  while (peek().is_directive("align")) {
    take();
    uint32_t ignored = 0;
    if (!expect_u32(ignored, "an alignment")) return false;
  }
  if (!parse_type(type, width)) return false;
  do {
    const SourcePosition at = peek().position;
    std::string_view name;
    if (!expect_name(name, "the name of a register")) return false;
    RegisterDeclaration declaration;
    declaration.first = static_cast<uint32_t>(function_->registers.size());
    if (accept('<')) {
      declaration.ranged = true;
      if (!expect_u32(declaration.count, "the number of registers")) return false;
      if (!expect('>', "after the number of registers")) return false;
      if (register_total_ + declaration.count > kMaxRegisters) {
        return fail(at, "too many registers in one module");
      }
      if (declaration.count != 0 &&
          !names_.declare_range(name, declaration.first, declaration.count)) {
        return fail(at, "registers declared twice in one scope: " + std::string(name));
      }
      for (uint32_t i = 0; i < declaration.count; ++i) {
        add_register(std::string(name) + std::to_string(i), type, width, at);
      }
      if (declaration.count == 0) continue;
    } else {
      if (!declare(name, {Names::Kind::Register, declaration.first}, at)) return false;
      if (!add_register(std::string(name), type, width, at)) return false;
    }
    function_->body.push_back(declaration);
  } while (accept(','));
  return expect(';', "at the end of a declaration");
}

// `.param .align 8 .b8 name[16]`, `.param .u64 .ptr .global .align 16 name`, `.reg .b32 %a`.
bool Parser::parse_parameter(Variable& variable) {
  if (accept_directive("reg")) {
    variable.space = isa::Space::Register;
  } else if (accept_directive("param")) {
    variable.space = isa::Space::Param;
  } else {
    return fail_here(".param or .reg");
  }
  const auto alignment = [&](uint32_t& bytes) {
    while (accept_directive("align")) {
      const SourcePosition at = peek().position;
      if (!expect_u32(bytes, "an alignment in bytes")) return false;
      if (!is_power_of_two(bytes))
        return fail(at, "alignment is no power of two: " + std::to_string(bytes));
    }
    return true;
  };
  if (!alignment(variable.alignment)) return false;
  if (!parse_type(variable.type, variable.vector_width)) return false;
  if (accept_directive("ptr")) {
    variable.is_pointer = true;
    if (peek().kind == Token::Kind::Dotted) {
      if (const auto space = isa::parse_space(peek().text)) {
        variable.pointer_space = *space;
        take();
      }
    }
    if (!alignment(variable.pointer_alignment)) return false;
  } else if (!alignment(variable.alignment)) {
    return false;
  }
  if (variable.alignment == 0)
    variable.alignment = static_cast<uint32_t>(natural_alignment(variable));
  variable.position = peek().position;
  std::string_view name;
  if (!expect_name(name, "the name of a parameter")) return false;
  variable.name = name;
  return parse_dimensions(variable) && check_size(variable);
}

// A parenthesised list.
bool Parser::parse_parameters(std::vector<Variable>& into) {
  take();
  if (accept(')')) return true;
  do {
    Variable variable;
    if (!parse_parameter(variable)) return false;
    into.push_back(std::move(variable));
  } while (accept(','));
  return expect(')', "after the parameters");
}

}  // namespace weft::ptx
