// SPDX-License-Identifier: Apache-2.0

// The parser's state, shared by the files that hold its parts: parse_module.cc (directives outside
// functions), parse_declaration.cc (variables, registers, initialisers), parse_function.cc
// (headers, bodies, names), parse_instruction.cc (opcodes and operands), parse_constant.cc
// (constant expressions).
//
// Every parse_* function returns whether it succeeded; when it fails it has said why, and the
// caller gives up too until someone skips to the next `;`.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ptxbench/isa/form.h"
#include "ptxbench/ptx/ast.h"
#include "ptxbench/ptx/lexer.h"
#include "ptxbench/ptx/names.h"

namespace weft::ptx {

class Parser {
 public:
  Parser(std::string text, std::string file_name);
  Result<std::shared_ptr<const Module>> run();

 private:
  // What an opcode with its modifiers means; kept per spelling, as programs repeat few spellings.
  struct Spelling {
    std::string_view opcode;
    std::vector<std::string_view> modifiers;
    std::vector<isa::Type> types;
    isa::Space space = isa::Space::Generic;
    std::vector<const isa::Form*> forms;
  };
  struct Global {
    enum class Kind : uint8_t { Variable, Function } kind;
    uint32_t index;
  };
  // A constant expression's value on the way.
  struct Number {
    Constant constant;
    bool is_unsigned = false;
  };
  // Labels of a .branchtargets that are not known yet.
  struct PendingTargets {
    uint32_t statement;
    std::vector<std::string_view> names;
    std::vector<SourcePosition> positions;
  };
  // Statements of a function that name something the function does not declare.
  struct Pending {
    uint32_t function;
    std::vector<uint32_t> statements;
  };
  struct Scope {
    std::vector<uint32_t> unresolved;  // statements with operands whose name has no meaning yet
    std::vector<PendingTargets> targets;
    SourcePosition opened;
  };

  // Tokens and failure.
  const Token& peek() const { return token_; }
  Token take();
  bool accept(char punctuation);
  bool accept_directive(std::string_view word);
  bool expect(char punctuation, const char* where);
  bool expect_name(std::string_view& name, const char* what);
  bool expect_string(std::string_view& text, const char* what);
  bool expect_u32(uint32_t& value, const char* what);
  bool fail(SourcePosition at, std::string message, std::string hint = {});
  bool fail_here(std::string expected, std::string hint = {});
  bool too_many_errors() const { return errors_.diagnostics.size() >= kMaxErrors; }
  void skip_statement();
  void skip_block();

  // Module.
  void parse_header();
  void parse_module_item();
  bool parse_target();
  bool parse_file();
  bool parse_section();
  bool parse_alias();
  bool parse_loc(LocStatement& loc);
  void resolve_globals();
  void resolve_global(const Function& function, const Instruction& instruction, Operand& operand);
  void prefer_definitions();

  // Declarations.
  bool parse_variables(Linkage linkage, isa::Space space, std::vector<Variable>& into,
                       bool in_function);
  bool parse_type(isa::Type& type, uint8_t& vector_width);
  bool parse_attribute(Variable& variable);
  bool parse_dimensions(Variable& variable);
  bool parse_initializer(Variable& variable);
  bool parse_initial_level(Variable& variable, std::size_t level);
  bool parse_initial_value(Variable& variable);
  bool parse_sampler_fields(Variable& variable);
  bool parse_registers();
  bool parse_parameter(Variable& variable);
  bool parse_parameters(std::vector<Variable>& into);
  bool add_register(std::string name, isa::Type type, uint8_t width, SourcePosition at);
  bool check_size(const Variable& variable);

  // Functions.
  bool parse_function(Linkage linkage, Function::Kind kind);
  bool parse_function_directives(Function& function);
  bool parse_extent(std::optional<Extent3>& extent);
  void parse_body(uint32_t index);
  void parse_statement();
  bool parse_directive_statement();
  bool parse_label_directive(const Token& name);
  bool declare_label(const Token& name);
  bool declare(std::string_view name, Names::Meaning meaning, SourcePosition at);
  bool parse_prototype(std::string_view name);
  void open_scope();
  void close_scope();
  void declare_parameters(Function& function);
  void resolve_statement(Statement& statement, bool& all);

  // Instructions.
  bool parse_instruction(const Token& opcode, std::optional<Guard> guard);
  bool parse_guard(Guard& guard);
  const Spelling* spelling(const Token& opcode, const std::vector<Token>& words,
                           std::string_view text);
  bool parse_operands(Instruction& instruction);
  bool parse_operand(Operand& operand);
  bool parse_simple_operand(Operand& operand);
  bool parse_name_operand(Operand& operand);
  bool parse_vector(Operand& operand);
  bool parse_address(Operand& operand);
  bool parse_list(Operand& operand);
  bool parse_component(Component& component);
  bool parse_symbol_offset(SymbolOperand& symbol);
  const Variable* variable_of(const SymbolOperand& symbol) const;
  const isa::Form* choose_form(const Spelling& spelling, const Instruction& instruction);

  // Constant expressions.
  bool parse_constant(Constant& constant);
  bool parse_integer(int64_t& value);
  bool parse_conditional(Number& number, int depth);
  bool parse_binary(Number& number, int least, int depth);
  bool parse_unary(Number& number, int depth);
  bool starts_constant() const;

  static constexpr std::size_t kMaxErrors = 20;
  static constexpr std::size_t kMaxScopes = 256;
  static constexpr int kProduct = 10;     // binding strength of * / %: offsets end before + and -
  static constexpr int kMaxNesting = 64;  // of expressions, vectors and initialisers
  static constexpr uint64_t kMaxRegisters = 1 << 21;  // declared in a module

  std::shared_ptr<const std::string> text_;
  std::shared_ptr<Module> module_;
  Lexer lexer_;
  Token token_;
  const char* last_end_ = nullptr;  // end of the token taken last
  Error errors_;

  std::unordered_map<std::string_view, Global> globals_;
  std::unordered_map<std::string_view, Spelling> spellings_;
  std::vector<Pending> pending_;
  std::string redeclared_;  // the last function that was declared, then defined
  uint64_t register_total_ = 0;

  Function* function_ = nullptr;  // whose body is read
  uint32_t function_index_ = 0;
  Names names_;
  std::vector<Scope> scopes_;
  std::list<std::string> made_names_;  // of `.param .b32 p<3>`, which the text does not hold
  SourceLine line_;
  int open_braces_ = 0;  // of vectors in the statement being read
  int nesting_ = 0;
  std::vector<Token> words_;  // modifiers of the instruction being read
  bool unresolved_ = false;   // an operand of it has a name without meaning
  bool defer_names_ = false;  // its names are labels: they wait for the scope's end
  bool is_call_ = false;      // a parenthesis opens a list, not an expression
};

}  // namespace weft::ptx
