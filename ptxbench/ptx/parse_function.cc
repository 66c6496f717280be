// SPDX-License-Identifier: Apache-2.0

// Functions: headers, bodies, and the meaning of names (PTX ISA 9.0, sections 7, 11.2 and 11.4).
//
// Registers and variables are declared before use, labels often after. So an operand whose name has
// no meaning yet waits in the scope that holds it and is looked at again when that scope closes,
// first there, then in the enclosing ones, at last among the module's names.
#include <algorithm>

#include "ptxbench/ptx/parser.h"

namespace weft::ptx {
namespace {

// Calls visit(operand) for the operand and all that it holds.
template <typename Visit>
void each_operand(Operand& operand, const Visit& visit) {
  visit(operand);
  const auto each = [&](std::vector<Operand>& inner) {
    for (Operand& element : inner) each_operand(element, visit);
  };
  if (auto* vector = std::get_if<VectorOperand>(&operand.value)) each(vector->elements);
  if (auto* address = std::get_if<AddressOperand>(&operand.value)) each(address->parts);
  if (auto* pair = std::get_if<PairOperand>(&operand.value)) each(pair->elements);
  if (auto* list = std::get_if<ListOperand>(&operand.value)) each(list->elements);
}

SymbolOperand* unknown_symbol(Operand& operand) {
  auto* symbol = std::get_if<SymbolOperand>(&operand.value);
  return symbol != nullptr && symbol->kind == SymbolOperand::Kind::Unknown ? symbol : nullptr;
}

}  // namespace

bool Parser::declare(std::string_view name, Names::Meaning meaning, SourcePosition at) {
  if (names_.declare(name, meaning)) return true;
  return fail(at, "name declared twice in one scope: " + std::string(name));
}

void Parser::open_scope() {
  names_.open_scope();
  scopes_.emplace_back();
  scopes_.back().opened = peek().position;
}

void Parser::close_scope() {
  Scope scope = std::move(scopes_.back());
  std::vector<uint32_t> left;
  for (const uint32_t statement : scope.unresolved) {
    bool all = true;
    resolve_statement(function_->body[statement], all);
    if (!all) left.push_back(statement);
  }
  std::vector<PendingTargets> targets_left;
  for (PendingTargets& pending : scope.targets) {
    auto& targets = std::get<BranchTargets>(function_->body[pending.statement]);
    std::vector<uint32_t> labels;
    std::size_t missing = pending.names.size();
    for (std::size_t i = 0; i < pending.names.size(); ++i) {
      const auto meaning = names_.find(pending.names[i]);
      if (!meaning || meaning->kind != Names::Kind::Label) {
        missing = i;
        break;
      }
      labels.push_back(meaning->index);
    }
    if (missing == pending.names.size()) {
      targets.labels = std::move(labels);
    } else if (scopes_.size() > 1) {
      targets_left.push_back(std::move(pending));
    } else {
      fail(pending.positions[missing], "no such label: " + std::string(pending.names[missing]));
    }
  }
  names_.close_scope();
  scopes_.pop_back();
  if (scopes_.empty()) {
    if (!left.empty()) pending_.push_back({function_index_, std::move(left)});
    return;
  }
  Scope& outer = scopes_.back();
  outer.unresolved.insert(outer.unresolved.end(), left.begin(), left.end());
  std::move(targets_left.begin(), targets_left.end(), std::back_inserter(outer.targets));
}

// Gives meaning to the operands of a statement that had none. `all` becomes false when some are
// left.
void Parser::resolve_statement(Statement& statement, bool& all) {
  auto& instruction = std::get<Instruction>(statement);
  for (Operand& operand : instruction.operands) {
    each_operand(operand, [&](Operand& one) {
      SymbolOperand* symbol = unknown_symbol(one);
      if (symbol == nullptr) return;
      const auto meaning = names_.find(symbol->name);
      if (meaning && meaning->kind == Names::Kind::Label) {
        one.value = LabelOperand{meaning->index};
      } else if (!meaning || meaning->kind != Names::Kind::Table) {
        all = false;
      }
    });
  }
}

// What is unknown when the text ends is a name of the module, or an error.
void Parser::resolve_globals() {
  for (const Pending& pending : pending_) {
    Function& function = module_->functions[pending.function];
    for (const uint32_t statement : pending.statements) {
      if (too_many_errors()) return;
      auto& instruction = std::get<Instruction>(function.body[statement]);
      for (Operand& operand : instruction.operands) {
        each_operand(operand, [&](Operand& one) { resolve_global(function, instruction, one); });
      }
    }
  }
  prefer_definitions();
}

void Parser::resolve_global(const Function& function, const Instruction& instruction,
                            Operand& operand) {
  SymbolOperand* symbol = unknown_symbol(operand);
  if (symbol == nullptr) return;
  if (const auto found = globals_.find(symbol->name); found != globals_.end()) {
    symbol->kind = found->second.kind == Global::Kind::Function
                       ? SymbolOperand::Kind::Function
                       : SymbolOperand::Kind::ModuleVariable;
    symbol->index = found->second.index;
    return;
  }
  for (const Statement& statement : function.body) {
    const auto* branches = std::get_if<BranchTargets>(&statement);
    const auto* calls = std::get_if<CallTargets>(&statement);
    const auto* prototype = std::get_if<CallPrototype>(&statement);
    if (branches != nullptr && branches->name == symbol->name) return;
    if (calls != nullptr && calls->name == symbol->name) return;
    if (prototype != nullptr && prototype->name == symbol->name) return;
  }
  if (instruction.opcode == "bra") {
    fail(operand.position, "no such label: " + symbol->name,
         "a label is visible in its own scope and in the scopes inside it");
  } else {
    fail(operand.position, "undeclared name: " + symbol->name,
         "declare registers with .reg, variables and functions before their use");
  }
}

// A function may be declared, used and then defined: operands mean the definition where there is
// one, and the same for variables that are declared .extern first.
void Parser::prefer_definitions() {
  if (redeclared_.empty()) return;
  for (Function& function : module_->functions) {
    for (Statement& statement : function.body) {
      auto* instruction = std::get_if<Instruction>(&statement);
      if (instruction == nullptr) continue;
      for (Operand& operand : instruction->operands) {
        each_operand(operand, [&](Operand& one) {
          auto* symbol = std::get_if<SymbolOperand>(&one.value);
          if (symbol == nullptr || (symbol->kind != SymbolOperand::Kind::Function &&
                                    symbol->kind != SymbolOperand::Kind::ModuleVariable)) {
            return;
          }
          if (const auto found = globals_.find(symbol->name); found != globals_.end()) {
            symbol->index = found->second.index;
          }
        });
      }
    }
  }
}

bool Parser::parse_function(Linkage linkage, Function::Kind kind) {
  Function function;
  function.kind = kind;
  function.linkage = linkage;
  while (accept_directive("attribute")) {
    Variable ignored;
    if (!parse_attribute(ignored)) return false;
  }
  if (peek().is('(')) {
    if (kind == Function::Kind::Entry)
      return fail_here("the kernel's name: a kernel returns nothing");
    if (!parse_parameters(function.returns)) return false;
  }
  const Token name = peek();
  std::string_view text;
  if (!expect_name(text, "the function's name")) return false;
  function.position = name.position;
  function.name = text;
  if (peek().is('(') && !parse_parameters(function.parameters)) return false;
  if (!parse_function_directives(function)) return false;
  function.has_body = peek().is('{');
  if (!function.has_body && !peek().is(';')) return fail_here("the function's body or ';'");

  const auto index = static_cast<uint32_t>(module_->functions.size());
  const auto [known, fresh] = globals_.try_emplace(text, Global{Global::Kind::Function, index});
  if (!fresh) {
    if (known->second.kind != Global::Kind::Function) {
      return fail(name.position, "a variable has this name too: " + function.name);
    }
    if (function.has_body) {
      if (module_->functions[known->second.index].has_body) {
        fail(name.position, "function defined twice: " + function.name);
        skip_block();
        return true;
      }
      known->second.index = index;
      redeclared_ = function.name;
    }
  }
  module_->functions.push_back(std::move(function));
  if (accept(';')) return true;
  parse_body(index);
  return true;
}

bool Parser::parse_extent(std::optional<Extent3>& extent) {
  Extent3 value;
  if (!expect_u32(value.x, "a number of threads or blocks")) return false;
  if (accept(',') && !expect_u32(value.y, "the second extent")) return false;
  if (accept(',') && !expect_u32(value.z, "the third extent")) return false;
  extent = value;
  return true;
}

// Between the parameters and the body: launch bounds, clusters, pragmas.
bool Parser::parse_function_directives(Function& function) {
  const auto number = [&](std::optional<uint32_t>& into) {
    uint32_t value = 0;
    if (!expect_u32(value, "a number")) return false;
    into = value;
    return true;
  };
  while (peek().kind == Token::Kind::Dotted) {
    const Token word = take();
    bool good = true;
    if (word.text == "maxntid")
      good = parse_extent(function.max_threads);
    else if (word.text == "reqntid")
      good = parse_extent(function.required_threads);
    else if (word.text == "reqnctapercluster")
      good = parse_extent(function.required_cluster);
    else if (word.text == "minnctapersm")
      good = number(function.min_blocks);
    else if (word.text == "maxnctapersm")
      good = number(function.max_blocks);
    else if (word.text == "maxnreg")
      good = number(function.max_registers);
    else if (word.text == "maxclusterrank")
      good = number(function.max_cluster_rank);
    else if (word.text == "abi_preserve")
      good = number(function.abi_preserve);
    else if (word.text == "abi_preserve_control")
      good = number(function.abi_preserve_control);
    else if (word.text == "explicitcluster")
      function.explicit_cluster = true;
    else if (word.text == "blocksareclusters")
      function.blocks_are_clusters = true;
    else if (word.text == "noreturn")
      function.no_return = true;
    else if (word.text == "unique")
      continue;
    else if (word.text == "attribute") {
      Variable ignored;
      good = parse_attribute(ignored);
    } else if (word.text == "pragma") {
      do {
        std::string_view text;
        if (!expect_string(text, "a string after .pragma")) return false;
        function.pragmas.emplace_back(text);
      } while (accept(','));
      good = expect(';', "at the end of .pragma");
    } else {
      return fail(word.position, "unknown directive of a function: ." + std::string(word.text));
    }
    if (!good) return false;
  }
  return true;
}

void Parser::declare_parameters(Function& function) {
  const auto each = [&](std::vector<Variable>& list, Names::Kind kind) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Variable& one = list[i];
      if (one.name == "_") continue;
      if (one.space == isa::Space::Register) {
        const auto index = static_cast<uint32_t>(function.registers.size());
        if (declare(one.name, {Names::Kind::Register, index}, one.position)) {
          add_register(one.name, one.type, one.vector_width, one.position);
        }
      } else {
        declare(one.name, {kind, static_cast<uint32_t>(i)}, one.position);
      }
    }
  };
  each(function.returns, Names::Kind::ReturnParameter);
  each(function.parameters, Names::Kind::Parameter);
}

// No function is added while a body is read, so that function_ stays valid.
void Parser::parse_body(uint32_t index) {
  function_ = &module_->functions[index];
  function_index_ = index;
  line_ = {};
  names_.clear();
  scopes_.clear();
  open_scope();
  declare_parameters(*function_);
  const Token opening = take();
  while (!scopes_.empty() && !too_many_errors()) {
    if (peek().kind == Token::Kind::End) {
      fail(opening.position, "function without its closing brace: " + function_->name,
           "the text ends inside the function's body");
      break;
    }
    parse_statement();
  }
  function_ = nullptr;
}

void Parser::parse_statement() {
  open_braces_ = 0;
  nesting_ = 0;
  const Token& token = peek();
  if (token.is('}')) {
    const bool outermost = scopes_.size() == 1;
    if (!outermost) function_->body.push_back(ScopeEnd{});
    close_scope();
    take();
    return;
  }
  if (token.is('{')) {
    if (scopes_.size() >= kMaxScopes) {
      fail(token.position, "scopes nested too deeply");
      return skip_block();
    }
    take();
    function_->body.push_back(ScopeBegin{});
    return open_scope();
  }
  if (accept(';')) return;
  bool good = false;
  if (token.kind == Token::Kind::Dotted) {
    good = parse_directive_statement();
  } else if (token.kind == Token::Kind::Identifier) {
    const Token name = take();
    if (accept(':')) {
      good = parse_label_directive(name);
      if (good) return;
    } else {
      good = parse_instruction(name, std::nullopt);
    }
  } else if (token.is('@')) {
    take();
    if (peek().is('@')) {  // `@@DWARF` lines
      lexer_.rest_of_line();
      take();
      return;
    }
    Guard guard;
    if (parse_guard(guard)) {
      if (peek().kind == Token::Kind::Identifier) {
        const Token opcode = take();
        good = parse_instruction(opcode, guard);
      } else {
        fail_here("an instruction after its guard");
      }
    }
  } else {
    fail_here("an instruction, a label, a directive or '}'");
  }
  if (!good) skip_statement();
}

bool Parser::parse_directive_statement() {
  const Token directive = peek();
  const std::string_view word = directive.text;
  take();
  if (word == "reg") return parse_registers();
  if (word == "loc") {
    LocStatement loc;
    if (!parse_loc(loc)) return false;
    function_->body.push_back(std::move(loc));
    return true;
  }
  if (word == "pragma") {
    do {
      std::string_view text;
      if (!expect_string(text, "a string after .pragma")) return false;
      function_->body.push_back(PragmaStatement{std::string(text)});
    } while (accept(','));
    return expect(';', "at the end of .pragma");
  }
  if (word == "local" || word == "shared" || word == "param" || word == "const" ||
      word == "global") {
    return parse_variables(Linkage::Internal, *isa::parse_space(word), function_->variables, true);
  }
  if (word == "extern" || word == "visible" || word == "weak" || word == "common") {
    const Linkage linkage = word == "extern"   ? Linkage::Extern
                            : word == "weak"   ? Linkage::Weak
                            : word == "common" ? Linkage::Common
                                               : Linkage::Visible;
    if (peek().kind == Token::Kind::Dotted) {
      const auto space = isa::parse_space(peek().text);
      if (space) {
        take();
        return parse_variables(linkage, *space, function_->variables, true);
      }
    }
    return fail_here("a state space");
  }
  if (word == "file") return parse_file();
  if (word == "section") return parse_section();
  return fail(directive.position, "unknown directive in a function: ." + std::string(word),
              ".reg, .local, .shared, .param, .loc or .pragma may stand here");
}

// After `name:`: a table of targets, a prototype, or nothing (a label).
bool Parser::parse_label_directive(const Token& name) {
  const bool targets = peek().is_directive("branchtargets");
  const bool calls = peek().is_directive("calltargets");
  const bool prototype = peek().is_directive("callprototype");
  if (!targets && !calls && !prototype) return declare_label(name);
  take();
  if (!declare(name.text, {Names::Kind::Table, 0}, name.position)) return false;
  if (prototype) return parse_prototype(name.text);
  PendingTargets pending;
  CallTargets call{std::string(name.text), {}};
  do {
    pending.positions.push_back(peek().position);
    std::string_view target;
    if (!expect_name(target, targets ? "a label" : "a function")) return false;
    if (targets)
      pending.names.push_back(target);
    else
      call.functions.emplace_back(target);
  } while (accept(','));
  if (targets) {
    pending.statement = static_cast<uint32_t>(function_->body.size());
    function_->body.push_back(BranchTargets{std::string(name.text), {}});
    scopes_.back().targets.push_back(std::move(pending));
  } else {
    function_->body.push_back(std::move(call));
  }
  return expect(';', "after the list of targets");
}

bool Parser::declare_label(const Token& name) {
  const auto index = static_cast<uint32_t>(function_->labels.size());
  if (!declare(name.text, {Names::Kind::Label, index}, name.position)) return true;
  function_->labels.push_back(
      {std::string(name.text), static_cast<uint32_t>(function_->body.size())});
  function_->body.push_back(LabelStatement{index});
  return true;
}

// `.callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`
bool Parser::parse_prototype(std::string_view name) {
  CallPrototype prototype;
  prototype.name = name;
  if (peek().is('(') && !parse_parameters(prototype.returns)) return false;
  std::string_view placeholder;
  if (!expect_name(placeholder, "'_' in the place of the function's name")) return false;
  if (peek().is('(') && !parse_parameters(prototype.parameters)) return false;
  while (peek().kind == Token::Kind::Dotted) {
    if (accept_directive("noreturn")) {
      prototype.no_return = true;
    } else if (accept_directive("abi_preserve") || accept_directive("abi_preserve_control")) {
      uint32_t ignored = 0;
      if (!expect_u32(ignored, "a number")) return false;
    } else {
      return fail_here(".noreturn or ';'");
    }
  }
  function_->body.push_back(std::move(prototype));
  return expect(';', "after the prototype");
}

}  // namespace weft::ptx
