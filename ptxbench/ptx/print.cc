// SPDX-License-Identifier: Apache-2.0

// Variables and functions are printed in the order of their positions, because assemblers want
// names declared before their use.
#include "ptxbench/ptx/print.h"

#include <cstdio>

namespace weft::ptx {
namespace {

std::string_view linkage_text(Linkage linkage) {
  switch (linkage) {
    case Linkage::Internal:
      return "";
    case Linkage::Visible:
      return ".visible ";
    case Linkage::Extern:
      return ".extern ";
    case Linkage::Weak:
      return ".weak ";
    case Linkage::Common:
      return ".common ";
  }
  return "";
}

std::string_view component_text(Component component) {
  switch (component) {
    case Component::Whole:
      return "";
    case Component::X:
      return ".x";
    case Component::Y:
      return ".y";
    case Component::Z:
      return ".z";
    case Component::W:
      return ".w";
  }
  return "";
}

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void module(const Module& module) {
    add(".version ", module.version_major, '.', module.version_minor, "\n.target ", module.target);
    for (const std::string& option : module.target_options) add(", ", option);
    add("\n.address_size ", module.address_size, "\n\n");
    auto variable = module.variables.begin();
    for (const Function& one : module.functions) {
      for (; variable != module.variables.end() && before(variable->position, one.position);
           ++variable) {
        global(*variable);
      }
      function(one);
    }
    for (; variable != module.variables.end(); ++variable) global(*variable);
    for (const auto& [alias, target] : module.aliases) add(".alias ", alias, ", ", target, ";\n");
    for (const SourceFile& file : module.files) add(".file ", file.index, " \"", file.path, "\"\n");
    for (const std::string_view section : module.sections) add(".section ", section, '\n');
  }

  void instruction(const Function& function, const Instruction& instruction) {
    if (instruction.guard) {
      add(instruction.guard->negated ? "@!" : "@",
          function.registers[instruction.guard->register_index].name, ' ');
    }
    add(instruction.opcode);
    for (const std::string_view modifier : instruction.modifiers) add('.', modifier);
    if (!instruction.operands.empty()) add(' ');
    operands(function, instruction.operands);
  }

  void operand(const Function& function, const Operand& operand) {
    std::visit([&](const auto& value) { operand_value(function, value); }, operand.value);
  }

 private:
  static bool before(const SourcePosition& a, const SourcePosition& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  }

  void append(char c) { out_ += c; }
  void append(std::string_view text) { out_ += text; }
  void append(uint32_t value) { out_ += std::to_string(value); }
  void append(uint64_t value) { out_ += std::to_string(value); }
  void append(int64_t value) { out_ += std::to_string(value); }
  template <typename... Pieces>
  void add(const Pieces&... pieces) {
    (append(pieces), ...);
  }

  void offset(int64_t bytes) {
    if (bytes != 0) add('+', bytes);
  }

  void constant(const Constant& constant) {
    char buffer[32];
    switch (constant.kind) {
      case Constant::Kind::Integer:
        return add(static_cast<int64_t>(constant.bits));
      case Constant::Kind::Float32:
        std::snprintf(buffer, sizeof buffer, "0f%08X", static_cast<unsigned>(constant.bits));
        return add(std::string_view(buffer));
      case Constant::Kind::Float64:
        std::snprintf(buffer, sizeof buffer, "0d%016llX",
                      static_cast<unsigned long long>(constant.bits));
        return add(std::string_view(buffer));
    }
  }

  // Declarations.

  void type_and_name(const Variable& variable, std::string_view between) {
    if (variable.vector_width > 1) add(".v", uint32_t{variable.vector_width}, ' ');
    add('.', isa::name(variable.type), ' ', between, variable.name);
    for (const uint64_t extent : variable.dimensions) {
      if (extent == 0)
        add("[]");
      else
        add('[', extent, ']');
    }
  }

  void alignment(const Variable& variable) {
    Variable element = variable;
    element.dimensions.clear();
    if (variable.alignment != element.size()) add(".align ", variable.alignment, ' ');
  }

  void variable(const Variable& variable) {
    add(linkage_text(variable.linkage), '.', isa::name(variable.space), ' ');
    if (variable.managed) add(".attribute(.managed) ");
    alignment(variable);
    type_and_name(variable, "");
    if (!variable.initial.empty()) {
      const bool list = !variable.dimensions.empty() || variable.vector_width > 1;
      add(list ? " = {" : " = ");
      for (std::size_t i = 0; i < variable.initial.size(); ++i) {
        if (i != 0) add(", ");
        initial(variable.initial[i]);
      }
      if (list) add('}');
    }
    add(';');
  }

  void global(const Variable& one) {
    variable(one);
    add('\n');
  }

  void initial(const InitialValue& value) {
    if (value.symbol.empty()) return constant(value.constant);
    if (value.mask != 0) add(static_cast<int64_t>(value.mask), '(');
    if (value.generic)
      add("generic(", value.symbol, ')');
    else
      add(value.symbol);
    offset(value.offset);
    if (value.mask != 0) add(')');
  }

  void parameter(const Variable& parameter) {
    add(parameter.space == isa::Space::Register ? ".reg " : ".param ");
    alignment(parameter);
    std::string pointer;
    if (parameter.is_pointer) {
      pointer = ".ptr ";
      if (parameter.pointer_space != isa::Space::Generic) {
        pointer += '.';
        pointer += isa::name(parameter.pointer_space);
        pointer += ' ';
      }
      if (parameter.pointer_alignment != 0) {
        pointer += ".align " + std::to_string(parameter.pointer_alignment) + ' ';
      }
    }
    type_and_name(parameter, pointer);
  }

  void parameters(const std::vector<Variable>& list) {
    add('(');
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != 0) add(", ");
      parameter(list[i]);
    }
    add(')');
  }

  // Functions.

  void extent(std::string_view directive, const std::optional<Extent3>& extent) {
    if (extent) add(directive, extent->x, ", ", extent->y, ", ", extent->z, '\n');
  }
  void number(std::string_view directive, const std::optional<uint32_t>& value) {
    if (value) add(directive, *value, '\n');
  }

  void function(const Function& function) {
    add(linkage_text(function.linkage),
        function.kind == Function::Kind::Entry ? ".entry " : ".func ");
    if (!function.returns.empty()) {
      parameters(function.returns);
      add(' ');
    }
    add(function.name);
    parameters(function.parameters);
    add('\n');
    extent(".maxntid ", function.max_threads);
    extent(".reqntid ", function.required_threads);
    extent(".reqnctapercluster ", function.required_cluster);
    number(".minnctapersm ", function.min_blocks);
    number(".maxnctapersm ", function.max_blocks);
    number(".maxnreg ", function.max_registers);
    number(".maxclusterrank ", function.max_cluster_rank);
    number(".abi_preserve ", function.abi_preserve);
    number(".abi_preserve_control ", function.abi_preserve_control);
    if (function.explicit_cluster) add(".explicitcluster\n");
    if (function.blocks_are_clusters) add(".blocksareclusters\n");
    if (function.no_return) add(".noreturn\n");
    for (const std::string& pragma : function.pragmas) add(".pragma \"", pragma, "\";\n");
    if (!function.has_body) return add(";\n\n");
    add("{\n");
    for (const Statement& one : function.body) {
      std::visit([&](const auto& value) { statement(function, value); }, one);
      add('\n');
    }
    add("}\n\n");
  }

  void statement(const Function& function, const Instruction& one) {
    add('\t');
    instruction(function, one);
    add(';');
  }
  void statement(const Function& function, const LabelStatement& label) {
    add(function.labels[label.index].name, ':');
  }
  void statement(const Function&, const ScopeBegin&) { add('{'); }
  void statement(const Function&, const ScopeEnd&) { add('}'); }
  void statement(const Function& function, const RegisterDeclaration& declaration) {
    const Register& first = function.registers[declaration.first];
    add("\t.reg ");
    if (first.vector_width > 1) add(".v", uint32_t{first.vector_width}, ' ');
    add('.', isa::name(first.type), ' ');
    if (declaration.ranged) {  // registers are named prefix0, prefix1, ...
      add(std::string_view(first.name).substr(0, first.name.size() - 1), '<', declaration.count,
          ">;");
    } else {
      add(first.name, ';');
    }
  }
  void statement(const Function& function, const VariableDeclaration& declaration) {
    add('\t');
    variable(function.variables[declaration.index]);
  }
  void statement(const Function&, const LocStatement& loc) {
    add("\t.loc ", loc.line.file, ' ', loc.line.line, ' ', loc.line.column);
    if (!loc.inlined_at.empty()) add(", ", loc.inlined_at);
  }
  void statement(const Function&, const PragmaStatement& pragma) {
    add("\t.pragma \"", pragma.text, "\";");
  }
  void statement(const Function& function, const BranchTargets& targets) {
    add(targets.name, ": .branchtargets ");
    for (std::size_t i = 0; i < targets.labels.size(); ++i) {
      add(i != 0 ? ", " : "", function.labels[targets.labels[i]].name);
    }
    add(';');
  }
  void statement(const Function&, const CallTargets& targets) {
    add(targets.name, ": .calltargets ");
    for (std::size_t i = 0; i < targets.functions.size(); ++i) {
      add(i != 0 ? ", " : "", targets.functions[i]);
    }
    add(';');
  }
  void statement(const Function&, const CallPrototype& prototype) {
    add(prototype.name, ": .callprototype ");
    if (!prototype.returns.empty()) {
      parameters(prototype.returns);
      add(' ');
    }
    add("_ ");
    parameters(prototype.parameters);
    add(prototype.no_return ? " .noreturn;" : ";");
  }

  // Operands.

  void operands(const Function& function, const std::vector<Operand>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != 0) add(", ");
      operand(function, list[i]);
    }
  }

  void operand_value(const Function& function, const RegisterOperand& value) {
    add(value.negated ? "!" : "", function.registers[value.index].name,
        component_text(value.component));
    if (!value.selector.empty()) add('.', value.selector);
  }
  void operand_value(const Function&, const SpecialRegister& value) {
    add('%', value.name, component_text(value.component));
  }
  void operand_value(const Function&, const Constant& value) { constant(value); }
  void operand_value(const Function&, const SymbolOperand& value) {
    add(value.name);
    offset(value.offset);
  }
  void operand_value(const Function& function, const LabelOperand& value) {
    add(function.labels[value.index].name);
  }
  void operand_value(const Function&, const Sink&) { add('_'); }
  void operand_value(const Function& function, const VectorOperand& value) {
    add('{');
    operands(function, value.elements);
    add('}');
  }
  void operand_value(const Function& function, const AddressOperand& value) {
    add('[');
    for (std::size_t i = 0; i < value.parts.size(); ++i) {
      if (i != 0) add(", ");
      operand(function, value.parts[i]);
      if (i == 0) offset(value.offset);
    }
    add(value.unified ? "].unified" : "]");
  }
  void operand_value(const Function& function, const PairOperand& value) {
    operand(function, value.elements[0]);
    add('|');
    operand(function, value.elements[1]);
  }
  void operand_value(const Function& function, const ListOperand& value) {
    add('(');
    operands(function, value.elements);
    add(')');
  }

  std::string out_;
};

}  // namespace

std::string print(const Module& module) {
  Printer printer;
  printer.module(module);
  return printer.take();
}

std::string print(const Function& function, const Instruction& instruction) {
  Printer printer;
  printer.instruction(function, instruction);
  return printer.take();
}

std::string print(const Function& function, const Operand& operand) {
  Printer printer;
  printer.operand(function, operand);
  return printer.take();
}

}  // namespace weft::ptx
