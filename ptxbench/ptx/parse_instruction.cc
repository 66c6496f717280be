// SPDX-License-Identifier: Apache-2.0

// Instructions: guard, opcode with modifiers, operands, and the row of the instruction table that
// they match (PTX ISA 9.0, sections 6 and 9).
#include <algorithm>

#include "ptxbench/isa/catalogue.h"
#include "ptxbench/isa/special_registers.h"
#include "ptxbench/ptx/parser.h"

namespace weft::ptx {
namespace {

std::optional<Component> component_of(std::string_view word) {
  if (word == "x" || word == "r") return Component::X;
  if (word == "y" || word == "g") return Component::Y;
  if (word == "z" || word == "b") return Component::Z;
  if (word == "w" || word == "a") return Component::W;
  return std::nullopt;
}

bool fits(isa::OperandShape shape, const Operand& operand) {
  const bool address = std::holds_alternative<AddressOperand>(operand.value);
  const bool pair = std::holds_alternative<PairOperand>(operand.value);
  switch (shape) {
    case isa::OperandShape::Value:
      return !address && !pair;
    case isa::OperandShape::Address:
      return address;
    case isa::OperandShape::Pair:
      return pair;
    case isa::OperandShape::OptionalPair:
      return !address;
    case isa::OperandShape::List:
      return std::holds_alternative<ListOperand>(operand.value);
  }
  return false;
}

// Whether the operands fill the places of a row, optional places left out where needed.
bool operands_fit(const isa::Form& form, const std::vector<Operand>& operands, std::size_t place,
                  std::size_t at) {
  while (place < form.operand_count) {
    const isa::Form::OperandPlace& here = form.operands[place];
    const bool fit = at < operands.size() && fits(here.shape, operands[at]);
    if (here.optional) {
      // Both choices are open only where the operand fits; the rest decides.
      if (fit && operands_fit(form, operands, place + 1, at + 1)) return true;
      ++place;
      continue;
    }
    if (!fit) return false;
    ++place, ++at;
  }
  return at == operands.size();
}

}  // namespace

bool Parser::parse_guard(Guard& guard) {
  guard.negated = accept('!');
  const Token name = peek();
  std::string_view text;
  if (!expect_name(text, "a predicate register after '@'")) return false;
  const auto meaning = names_.find(text);
  if (!meaning || meaning->kind != Names::Kind::Register) {
    return fail(name.position, "undeclared predicate: " + std::string(text),
                "declare it with .reg .pred");
  }
  if (function_->registers[meaning->index].type != isa::Type::Pred) {
    return fail(name.position, "guard is no predicate register: " + std::string(text));
  }
  guard.register_index = meaning->index;
  return true;
}

const Parser::Spelling* Parser::spelling(const Token& opcode, const std::vector<Token>& words,
                                         std::string_view text) {
  if (const auto found = spellings_.find(text); found != spellings_.end()) return &found->second;
  Spelling fresh;
  fresh.opcode = opcode.text;
  bool has_space = false;
  for (const Token& word : words) {
    fresh.modifiers.push_back(word.text);
    if (const auto type = isa::parse_type(word.text)) fresh.types.push_back(*type);
    if (const auto space = isa::parse_space(word.text); space && !has_space) {
      fresh.space = *space;
      has_space = true;
    }
  }
  fresh.forms = isa::match_modifiers(fresh.opcode, fresh.modifiers);
  if (fresh.forms.empty()) {
    const isa::Mismatch mismatch = isa::explain_mismatch(fresh.opcode, fresh.modifiers);
    const Token& at =
        mismatch.modifier < 0 ? opcode : words[static_cast<std::size_t>(mismatch.modifier)];
    fail(at.position, mismatch.message, mismatch.hint);
    return nullptr;
  }
  return &spellings_.emplace(text, std::move(fresh)).first->second;
}

bool Parser::parse_instruction(const Token& opcode, std::optional<Guard> guard) {
  constexpr std::size_t kMaxModifiers = 32;
  words_.clear();
  while (peek().kind == Token::Kind::Dotted) {
    if (words_.size() == kMaxModifiers)
      return fail(peek().position, "instruction with too many modifiers");
    words_.push_back(take());
  }
  const char* end = words_.empty() ? opcode.end() : words_.back().end();
  const Spelling* known =
      spelling(opcode, words_, {opcode.begin(), static_cast<std::size_t>(end - opcode.begin())});
  if (known == nullptr) return false;
  Instruction instruction;
  instruction.opcode = known->opcode;
  instruction.modifiers = known->modifiers;
  instruction.types = known->types;
  instruction.space = known->space;
  instruction.guard = guard;
  instruction.position = opcode.position;
  instruction.line = line_;
  unresolved_ = false;
  defer_names_ = known->opcode == "bra";
  is_call_ = known->opcode == "call";
  if (!parse_operands(instruction)) return false;
  if (!expect(';', "at the end of an instruction")) return false;
  instruction.form = choose_form(*known, instruction);
  if (instruction.form == nullptr) return true;
  if (unresolved_)
    scopes_.back().unresolved.push_back(static_cast<uint32_t>(function_->body.size()));
  function_->body.push_back(std::move(instruction));
  return true;
}

const isa::Form* Parser::choose_form(const Spelling& known, const Instruction& instruction) {
  const isa::Form* unavailable = nullptr;
  for (const isa::Form* form : known.forms) {
    if (!operands_fit(*form, instruction.operands, 0, 0)) continue;
    if (isa::available(*form, module_->target)) return form;
    unavailable = form;
  }
  if (unavailable != nullptr) {
    fail(instruction.position, "target " + module_->target + " has no " + instruction.spelling(),
         "it needs .target " + std::string(unavailable->targets));
    return nullptr;
  }
  std::string hint = "its form is ";
  for (const isa::Form* form : known.forms) {
    if (form != known.forms.front()) hint += " or ";
    hint += form->syntax;
  }
  fail(instruction.position, "operands do not fit the instruction: " + instruction.spelling(),
       std::move(hint));
  return nullptr;
}

bool Parser::parse_operands(Instruction& instruction) {
  if (peek().is(';')) return true;
  constexpr std::size_t kMaxOperands = 64;
  instruction.operands.reserve(4);
  do {
    if (instruction.operands.size() == kMaxOperands)
      return fail_here("';': no instruction has more operands");
    Operand& operand = instruction.operands.emplace_back();
    if (!parse_operand(operand)) return false;
  } while (accept(','));
  return true;
}

// An operand, or two joined by a bar.
bool Parser::parse_operand(Operand& operand) {
  operand.position = peek().position;
  if (is_call_ && peek().is('(')) return parse_list(operand);
  if (!parse_simple_operand(operand)) return false;
  if (!accept('|')) return true;
  PairOperand pair;
  pair.elements.reserve(2);
  pair.elements.push_back(std::move(operand));
  Operand& second = pair.elements.emplace_back();
  second.position = peek().position;
  if (!parse_simple_operand(second)) return false;
  operand =
      Operand{std::move(pair), pair.elements.empty() ? second.position : pair.elements[0].position};
  return true;
}

bool Parser::parse_simple_operand(Operand& operand) {
  operand.position = peek().position;
  const Token& token = peek();
  if (token.is('[')) return parse_address(operand);
  if (token.is('{')) return parse_vector(operand);
  if (token.is('!')) {
    take();
    if (peek().kind == Token::Kind::Identifier && peek().text != "WARP_SZ") {
      if (!parse_name_operand(operand)) return false;
      auto* reg = std::get_if<RegisterOperand>(&operand.value);
      if (reg == nullptr) return fail(operand.position, "'!' negates predicate registers only");
      reg->negated = true;
      return true;
    }
    Constant constant;
    if (!parse_constant(constant)) return false;
    constant.bits = constant.bits == 0;
    operand.value = constant;
    return true;
  }
  if (starts_constant()) {
    Constant constant;
    if (!parse_constant(constant)) return false;
    operand.value = constant;
    return true;
  }
  if (token.kind == Token::Kind::Identifier) return parse_name_operand(operand);
  return fail_here("an operand");
}

bool Parser::parse_component(Component& component) {
  component = Component::Whole;
  if (peek().kind != Token::Kind::Dotted) return true;
  const auto found = component_of(peek().text);
  if (!found) return fail_here("a component: .x, .y, .z or .w");
  component = *found;
  take();
  return true;
}

// A register, a special register, `_`, a symbol with an offset or an index, or a label.
bool Parser::parse_name_operand(Operand& operand) {
  const Token name = take();
  if (name.text == "_") {
    operand.value = Sink{};
    return true;
  }
  std::optional<Names::Meaning> meaning;
  if (!defer_names_) meaning = names_.find(name.text);
  if (meaning && meaning->kind == Names::Kind::Register) {
    RegisterOperand reg{.index = meaning->index};
    if (peek().kind == Token::Kind::Dotted) {
      const std::string_view word = peek().text;
      // Selectors of video instructions: .b0, .h1, .b7632.
      const bool selects =
          word.size() > 1 && (word[0] == 'b' || word[0] == 'h') && word[1] >= '0' && word[1] <= '9';
      if (selects) {
        reg.selector = take().text;
      } else if (!parse_component(reg.component)) {
        return false;
      }
    }
    operand.value = reg;
    return true;
  }
  if (!meaning && name.text.front() == '%') {
    if (const isa::SpecialRegisterInfo* special = isa::find_special_register(name.text.substr(1))) {
      SpecialRegister reg{special->name, Component::Whole};
      if (special->vector && !parse_component(reg.component)) return false;
      operand.value = reg;
      return true;
    }
    if (!defer_names_) {
      return fail(name.position, "undeclared register: " + std::string(name.text),
                  "declare it with .reg in this scope or an enclosing one");
    }
  }
  SymbolOperand symbol;
  symbol.name = name.text;
  if (meaning) {
    symbol.index = meaning->index;
    switch (meaning->kind) {
      case Names::Kind::Variable:
        symbol.kind = SymbolOperand::Kind::FunctionVariable;
        break;
      case Names::Kind::Parameter:
        symbol.kind = SymbolOperand::Kind::Parameter;
        break;
      case Names::Kind::ReturnParameter:
        symbol.kind = SymbolOperand::Kind::ReturnParameter;
        break;
      default:
        break;
    }
    if (meaning->kind == Names::Kind::Label) {
      operand.value = LabelOperand{meaning->index};
      return true;
    }
  } else if (const auto found = globals_.find(name.text);
             found != globals_.end() && !defer_names_) {
    symbol.kind = found->second.kind == Global::Kind::Function
                      ? SymbolOperand::Kind::Function
                      : SymbolOperand::Kind::ModuleVariable;
    symbol.index = found->second.index;
  } else {
    unresolved_ = true;
  }
  if (!parse_symbol_offset(symbol)) return false;
  operand.value = std::move(symbol);
  return true;
}

// `symbol+8`, `symbol-4`, and `symbol[2]`, which counts elements.
bool Parser::parse_symbol_offset(SymbolOperand& symbol) {
  while (peek().is('+') || peek().is('-') || peek().is('[')) {
    const Token op = take();
    int64_t value = 0;
    Number number;
    if (op.is('[')) {
      if (!parse_integer(value) || !expect(']', "after an index")) return false;
      const Variable* variable = variable_of(symbol);
      if (variable == nullptr) return fail(op.position, "only variables have elements");
      Variable element = *variable;
      element.dimensions.clear();
      value = static_cast<int64_t>(static_cast<uint64_t>(value) * element.size());
    } else {
      if (!parse_binary(number, kProduct, 0)) return false;
      if (number.constant.kind != Constant::Kind::Integer)
        return fail(op.position, "offset is no integer");
      value = static_cast<int64_t>(op.is('-') ? 0 - number.constant.bits : number.constant.bits);
    }
    symbol.offset =
        static_cast<int64_t>(static_cast<uint64_t>(symbol.offset) + static_cast<uint64_t>(value));
  }
  return true;
}

const Variable* Parser::variable_of(const SymbolOperand& symbol) const {
  switch (symbol.kind) {
    case SymbolOperand::Kind::FunctionVariable:
      return &function_->variables[symbol.index];
    case SymbolOperand::Kind::ModuleVariable:
      return &module_->variables[symbol.index];
    case SymbolOperand::Kind::Parameter:
      return &function_->parameters[symbol.index];
    case SymbolOperand::Kind::ReturnParameter:
      return &function_->returns[symbol.index];
    default:
      return nullptr;
  }
}

bool Parser::parse_vector(Operand& operand) {
  if (++nesting_ > 4) return fail(peek().position, "vectors nested too deeply");
  take();
  ++open_braces_;
  VectorOperand vector;
  if (!peek().is('}')) {
    do {
      if (!parse_simple_operand(vector.elements.emplace_back())) return false;
    } while (accept(','));
  }
  if (!expect('}', "at the end of a vector")) return false;
  --open_braces_;
  --nesting_;
  operand.value = std::move(vector);
  return true;
}

// `[base]`, `[base+8]`, `[base, {x, y}]`, `[texture, sampler, {x, y}]`.
bool Parser::parse_address(Operand& operand) {
  if (++nesting_ > 4) return fail(peek().position, "addresses nested too deeply");
  take();
  AddressOperand address;
  do {
    Operand& part = address.parts.emplace_back();
    if (!parse_simple_operand(part)) return false;
    if (address.parts.size() > 1) continue;
    if (auto* symbol = std::get_if<SymbolOperand>(&part.value)) {
      address.offset = symbol->offset;
      symbol->offset = 0;
      continue;
    }
    while (peek().is('+') || peek().is('-')) {
      const Token op = take();
      Number number;
      if (!parse_binary(number, kProduct, 0)) return false;
      if (number.constant.kind != Constant::Kind::Integer)
        return fail(op.position, "offset is no integer");
      const uint64_t bytes = op.is('-') ? 0 - number.constant.bits : number.constant.bits;
      address.offset = static_cast<int64_t>(static_cast<uint64_t>(address.offset) + bytes);
    }
  } while (accept(','));
  if (!expect(']', "at the end of an address")) return false;
  --nesting_;
  address.unified = accept_directive("unified");
  operand.value = std::move(address);
  return true;
}

bool Parser::parse_list(Operand& operand) {
  take();
  ListOperand list;
  if (!peek().is(')')) {
    do {
      if (!parse_simple_operand(list.elements.emplace_back())) return false;
    } while (accept(','));
  }
  if (!expect(')', "at the end of a list")) return false;
  operand.value = std::move(list);
  return true;
}

}  // namespace weft::ptx
