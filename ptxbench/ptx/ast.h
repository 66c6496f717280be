// SPDX-License-Identifier: Apache-2.0

// A parsed PTX module. Names inside function bodies are resolved: an operand says which register,
// variable or label it means by index. Scopes stay visible as statements, so that printing gives a
// program that parses to the same tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "ptxbench/isa/spaces.h"
#include "ptxbench/isa/types.h"

namespace weft::isa {
struct Form;
}

namespace weft::ptx {

enum class Linkage : uint8_t { Internal, Visible, Extern, Weak, Common };

// A constant expression's value: PTX evaluates integers in 64 bits, floats in f64 unless written
// 0f.
struct Constant {
  enum class Kind : uint8_t { Integer, Float32, Float64 };
  Kind kind = Kind::Integer;
  uint64_t bits = 0;  // two's complement, or the IEEE pattern (Float32 in the low half)
  bool operator==(const Constant&) const = default;
};

// One element of an initialiser: a number, or the address of a symbol plus an offset
// (`generic(symbol)+8` asks for the generic address; `mask` keeps one byte of it, as in
// 0xff(symbol)).
struct InitialValue {
  Constant constant;
  std::string symbol;  // empty: plain number
  int64_t offset = 0;
  bool generic = false;
  uint64_t mask = 0;  // 0: the whole address
  bool operator==(const InitialValue&) const = default;
};

// A variable: global of a module, or local/shared/param of a function, or a function parameter.
struct Variable {
  std::string name;
  isa::Space space = isa::Space::Global;
  isa::Type type = isa::Type::B8;
  uint8_t vector_width = 1;          // .v2, .v4
  uint32_t alignment = 0;            // bytes; never 0 after parsing (natural alignment)
  std::vector<uint64_t> dimensions;  // empty: a scalar; a first extent of 0: `name[]`
  std::vector<InitialValue>
      initial;  // flattened in row order; shorter than the array: zeros follow
  Linkage linkage = Linkage::Internal;
  bool managed = false;     // .attribute(.managed)
  bool is_pointer = false;  // `.param .u64 .ptr .global .align 16`
  isa::Space pointer_space = isa::Space::Generic;
  uint32_t pointer_alignment = 0;  // 0: not written
  SourcePosition position;
  uint64_t size() const;  // bytes; 0 for `name[]`
};

struct Register {
  std::string name;  // with its % where it has one
  isa::Type type = isa::Type::B32;
  uint8_t vector_width = 1;
};

// Operands ---------------------------------------------------------------------------------------

enum class Component : uint8_t { Whole, X, Y, Z, W };  // %v.x, %tid.x

struct Operand;

struct RegisterOperand {
  uint32_t index = 0;  // into Function::registers
  Component component = Component::Whole;
  bool negated = false;            // !%p
  std::string_view selector = {};  // of video instructions: "b0", "h1", "b7632"; else empty
};
struct SpecialRegister {
  std::string_view name;  // "tid", "laneid", "clock64": without % and component
  Component component = Component::Whole;
};
// A variable of the function, a variable of the module, a function, or a name that is declared
// later.
struct SymbolOperand {
  enum class Kind : uint8_t {
    FunctionVariable,
    ModuleVariable,
    Parameter,
    ReturnParameter,
    Function,
    Unknown
  };
  Kind kind = Kind::Unknown;
  uint32_t index = 0;  // into the list that `kind` names
  std::string name;
  int64_t offset = 0;  // `symbol+8`
};
struct LabelOperand {
  uint32_t index = 0;  // into Function::labels
};
struct Sink {};  // _
struct VectorOperand {
  std::vector<Operand> elements;  // {%r1, %r2, _}
};
// [base], [base+offset], and the forms with several parts: [map, {x, y}], [map, {x,y}, {offsets}].
struct AddressOperand {
  std::vector<Operand> parts;  // parts[0] is the base: register, symbol or constant
  int64_t offset = 0;          // bytes, added to the base
  bool unified = false;        // `[a].unified`
};
// Two operands joined by a bar: `p|q` of setp, `d|p` of shfl and elect.
struct PairOperand {
  std::vector<Operand> elements;  // exactly two
};
// A parenthesised list: call arguments and return values.
struct ListOperand {
  std::vector<Operand> elements;
};

struct Operand {
  std::variant<RegisterOperand, SpecialRegister, Constant, SymbolOperand, LabelOperand, Sink,
               VectorOperand, AddressOperand, PairOperand, ListOperand>
      value;
  SourcePosition position;
};

// The operands of an instruction. A row of the instruction table may leave places open that a
// modifier fills (`cp.async.bulk ..., byteMask` with .cp_mask), so a place beyond the last operand
// may be asked for: it reads as an empty list, which is neither a value nor an address nor a
// destination, so that who asks for one of these says what is wrong.
class Operands : public std::vector<Operand> {
 public:
  using std::vector<Operand>::vector;
  using std::vector<Operand>::operator[];
  const Operand& operator[](size_t place) const {
    return place < size() ? std::vector<Operand>::operator[](place) : missing();
  }
  static const Operand& missing();  // what stands at every place beyond the last operand
};

// Statements -------------------------------------------------------------------------------------

struct Guard {
  uint32_t register_index = 0;
  bool negated = false;  // @!%p
};

// A line of the high-level source, from .loc. `file` is an index of .file, 0 means none known.
struct SourceLine {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const SourceLine&) const = default;
};

struct Instruction {
  std::string_view opcode;                  // "wgmma", "ld": the part before the first dot
  std::vector<std::string_view> modifiers;  // without dots, as written: "mma_async", "sync", ...
  Operands operands;
  std::optional<Guard> guard;
  const isa::Form* form = nullptr;  // the row of the instruction table; never null after parse
  std::vector<isa::Type> types;     // the modifiers that are types, in order
  isa::Space space = isa::Space::Generic;  // the first state-space modifier
  SourcePosition position;
  SourceLine line;  // the .loc in force

  bool has(std::string_view modifier) const;
  // The whole opcode as written: "mul.wide.s32".
  std::string spelling() const;
};

struct LabelStatement {
  uint32_t index = 0;
};
struct ScopeBegin {};
struct ScopeEnd {};
// `.reg .b32 %r<7>;` declares registers first ... first+count-1; a list declares one by one.
struct RegisterDeclaration {
  uint32_t first = 0;
  uint32_t count = 1;
  bool ranged = false;
};
struct VariableDeclaration {
  uint32_t index = 0;
};  // into Function::variables
struct LocStatement {
  SourceLine line;
  std::string inlined_at;  // "function_name $L__info_string0, inlined_at 1 2 3", as written
};
struct PragmaStatement {
  std::string text;
};
// `name: .branchtargets L0, L1;` and `.calltargets f, g;`
struct BranchTargets {
  std::string name;
  std::vector<uint32_t> labels;
};
struct CallTargets {
  std::string name;
  std::vector<std::string> functions;
};
// `name: .callprototype (.param .b32 _) _ (.param .b64 _);`
struct CallPrototype {
  std::string name;
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  bool no_return = false;
};

using Statement = std::variant<Instruction, LabelStatement, ScopeBegin, ScopeEnd,
                               RegisterDeclaration, VariableDeclaration, LocStatement,
                               PragmaStatement, BranchTargets, CallTargets, CallPrototype>;

struct Label {
  std::string name;
  uint32_t statement = 0;  // index of its LabelStatement in Function::body
};

struct Extent3 {
  uint32_t x = 1, y = 1, z = 1;
};

struct Function {
  enum class Kind : uint8_t { Entry, Device };
  Kind kind = Kind::Entry;
  std::string name;
  Linkage linkage = Linkage::Internal;
  std::vector<Variable> returns;     // at most one in practice
  std::vector<Variable> parameters;  // space Param, or Register for old-style .func
  bool has_body = false;
  bool no_return = false;

  std::optional<Extent3> max_threads;            // .maxntid
  std::optional<Extent3> required_threads;       // .reqntid
  std::optional<uint32_t> min_blocks;            // .minnctapersm
  std::optional<uint32_t> max_blocks;            // .maxnctapersm
  std::optional<uint32_t> max_registers;         // .maxnreg
  std::optional<Extent3> required_cluster;       // .reqnctapercluster
  std::optional<uint32_t> max_cluster_rank;      // .maxclusterrank
  bool explicit_cluster = false;                 // .explicitcluster
  bool blocks_are_clusters = false;              // .blocksareclusters
  std::optional<uint32_t> abi_preserve;          // .abi_preserve
  std::optional<uint32_t> abi_preserve_control;  // .abi_preserve_control

  std::vector<Register> registers;
  std::vector<Variable> variables;  // .local .shared .param .const .global declared inside
  std::vector<Label> labels;
  std::vector<Statement> body;
  std::vector<std::string> pragmas;
  SourcePosition position;
};

struct SourceFile {
  uint32_t index = 0;
  std::string path;
};

struct Module {
  std::shared_ptr<const std::string> text;  // what the string_views point into
  std::string file;                         // name for diagnostics
  uint32_t version_major = 0, version_minor = 0;
  std::string target;                       // "sm_90a"
  std::vector<std::string> target_options;  // "debug", "texmode_independent"
  uint32_t address_size = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;  // declarations and definitions, in order
  std::vector<SourceFile> files;
  std::vector<std::pair<std::string, std::string>> aliases;  // .alias new, old
  std::vector<std::string_view> sections;  // debug data, as written: `.section .debug_str { ... }`
};

}  // namespace weft::ptx
