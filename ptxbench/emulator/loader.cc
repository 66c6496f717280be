// SPDX-License-Identifier: Apache-2.0

// Loads a module: gives its variables storage, lowers its functions, describes its kernels.

#include "ptxbench/emulator/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

namespace {

using isa::Space;

uint32_t round_up(uint32_t value, uint32_t to) {
  return (value + to - 1) / to * to;
}

Error at(const ptx::Module& module, SourcePosition position, std::string message,
         std::string hint = {}) {
  Diagnostic d;
  d.message = std::move(message);
  d.hint = std::move(hint);
  d.file = module.file;
  d.position = position;
  d.source_line = line_of_text(module, position.line);
  return Error(std::move(d));
}

bool is_shared(const ptx::Variable& v) {
  return v.space == Space::Shared || v.space == Space::SharedCluster;
}
bool is_device(const ptx::Variable& v) {
  return v.space == Space::Global || v.space == Space::Constant;
}

// Static shared memory begins behind what the system reserves. A module's variables share one
// layout, so that device functions and kernels agree on addresses; a function's own come after.
void place_shared(ProgramImage& image, const std::string& key, const ptx::Variable& v,
                  uint32_t& end) {
  if (v.size() == 0) {  // `.extern .shared name[]`: dynamic shared memory
    image.dynamic_shared_alignment = std::max(image.dynamic_shared_alignment, v.alignment);
    return;
  }
  end = round_up(end, std::max(1u, v.alignment));
  image.shared_offsets[key] = end;
  end += static_cast<uint32_t>(v.size());
}

Result<Done> place_device(ProgramImage& image, GlobalMemory& memory, const ptx::Variable& v) {
  if (v.linkage == ptx::Linkage::Extern || image.variables.contains(v.name)) return Done{};
  const uint64_t size = std::max<uint64_t>(v.size(), 1);
  const uint64_t address = memory.allocate(
      size, v.managed ? Allocation::Kind::Managed : Allocation::Kind::Variable, v.name);
  if (address == 0)
    return at(*image.module_, v.position,
              fmt::format("variable {} of {} bytes does not fit in device memory", v.name, size));
  std::memset(reinterpret_cast<void*>(address), 0, size);
  image.variables[v.name] = {address, v.size()};
  return Done{};
}

Result<uint64_t> symbol_value(const ProgramImage& image, const ptx::Variable& v,
                              const ptx::InitialValue& value) {
  if (const auto found = image.variables.find(value.symbol); found != image.variables.end())
    return found->second.address + static_cast<uint64_t>(value.offset);
  if (const auto found = image.function_by_name.find(value.symbol);
      found != image.function_by_name.end())
    for (size_t i = 0; i < image.functions.size(); ++i)
      if (image.functions[i].get() == found->second)
        return image.function_tokens + i * ProgramImage::kFunctionTokenStep;
  return at(
      *image.module_, v.position,
      fmt::format("initialiser of {} names {}, which has no address here", v.name, value.symbol));
}

Result<Done> initialise(ProgramImage& image, const ptx::Variable& v) {
  const auto found = image.variables.find(v.name);
  if (found == image.variables.end() || v.initial.empty()) return Done{};
  const uint32_t width = static_cast<uint32_t>(isa::bits(v.type)) / 8;
  auto* bytes = reinterpret_cast<std::byte*>(found->second.address);
  uint64_t offset = 0;
  for (const ptx::InitialValue& value : v.initial) {
    if (offset + width > found->second.size)
      return at(*image.module_, v.position,
                fmt::format("{} has more initial values than elements", v.name));
    uint64_t bits = value.constant.bits;
    if (!value.symbol.empty()) {
      bits = TRY(symbol_value(image, v, value));
      // 0xff00(symbol): one byte of the address, moved down.
      if (value.mask != 0) bits = (bits & value.mask) >> std::countr_zero(value.mask);
    } else if (v.type == isa::Type::F32 && value.constant.kind == ptx::Constant::Kind::Float64) {
      bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    } else if (v.type == isa::Type::F64 && value.constant.kind == ptx::Constant::Kind::Float32) {
      bits = std::bit_cast<uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
    } else if (v.type == isa::Type::F32 && value.constant.kind == ptx::Constant::Kind::Integer) {
      bits = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(bits)));
    } else if (v.type == isa::Type::F64 && value.constant.kind == ptx::Constant::Kind::Integer) {
      bits = std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(bits)));
    }
    std::memcpy(bytes + offset, &bits, std::min<uint32_t>(width, 8));
    offset += width;
  }
  return Done{};
}

KernelInfo describe(const ptx::Function& f, const FunctionCode& code, uint32_t shared_end,
                    uint32_t reserved) {
  KernelInfo info;
  info.name = f.name;
  info.static_shared = shared_end - reserved;
  info.local_per_thread = code.local_bytes;
  uint32_t end = 0;
  for (const ptx::Variable& p : f.parameters) {
    end = round_up(end, std::max(1u, p.alignment));
    info.parameter_offsets.push_back(end);
    info.parameter_sizes.push_back(static_cast<uint32_t>(p.size()));
    end += static_cast<uint32_t>(p.size());
  }
  info.parameter_bytes = end;
  auto threads = [](const ptx::Extent3& e) { return e.x * e.y * e.z; };
  if (f.max_threads) info.max_threads = std::min(info.max_threads, threads(*f.max_threads));
  if (f.required_threads)
    info.max_threads = std::min(info.max_threads, threads(*f.required_threads));
  if (f.required_cluster)
    info.required_cluster =
        Extent{f.required_cluster->x, f.required_cluster->y, f.required_cluster->z};
  // PTX registers are virtual. What ptxas would give is unknown; a number that lets the launch
  // bounds fit is the honest guess.
  const uint32_t fit =
      65'536u / std::max(32u, info.max_threads * std::max(1u, f.min_blocks.value_or(1)));
  info.registers =
      std::min({255u, fit, std::max(16u, static_cast<uint32_t>(f.registers.size()) / 2)});
  if (f.max_registers) info.registers = std::min(info.registers, *f.max_registers);
  return info;
}

// Functions reached from one by calls, itself included.
void collect_calls(const ProgramImage& image, const ptx::Function& f,
                   std::unordered_set<const ptx::Function*>& seen) {
  if (!seen.insert(&f).second) return;
  for (const ptx::Statement& s : f.body) {
    const auto* i = std::get_if<ptx::Instruction>(&s);
    if (i == nullptr) continue;
    for (const ptx::Operand& operand : i->operands)
      if (const auto* symbol = std::get_if<ptx::SymbolOperand>(&operand.value))
        if (const auto found = image.function_by_name.find(symbol->name);
            found != image.function_by_name.end())
          collect_calls(image, *found->second->source, seen);
  }
}

// Whether any instruction of a function names the module-scope variable.
bool mentions(const ptx::Function& f, std::string_view name) {
  auto in = [&](const ptx::Operand& operand, auto&& self) -> bool {
    if (const auto* s = std::get_if<ptx::SymbolOperand>(&operand.value))
      return s->kind == ptx::SymbolOperand::Kind::ModuleVariable && s->name == name;
    auto any = [&](const std::vector<ptx::Operand>& list) {
      return std::any_of(list.begin(), list.end(),
                         [&](const ptx::Operand& o) { return self(o, self); });
    };
    if (const auto* a = std::get_if<ptx::AddressOperand>(&operand.value)) return any(a->parts);
    if (const auto* v = std::get_if<ptx::VectorOperand>(&operand.value)) return any(v->elements);
    if (const auto* l = std::get_if<ptx::ListOperand>(&operand.value)) return any(l->elements);
    return false;
  };
  for (const ptx::Statement& s : f.body)
    if (const auto* i = std::get_if<ptx::Instruction>(&s))
      for (const ptx::Operand& operand : i->operands)
        if (in(operand, in)) return true;
  return false;
}

}  // namespace

Result<std::shared_ptr<ProgramImage>> load_program(std::shared_ptr<const ptx::Module> module,
                                                   GlobalMemory& memory, const DeviceModel& model,
                                                   Checks checks) {
  auto image = std::make_shared<ProgramImage>();
  image->module_ = module;
  image->memory = &memory;
  image->checks = checks;

  for (const ptx::Function& f : module->functions) {
    if (!f.has_body) continue;
    auto code = std::make_unique<FunctionCode>();
    code->source = &f;
    code->name = f.name;
    image->function_by_name[f.name] = code.get();
    image->functions.push_back(std::move(code));
  }
  for (const auto& [alias, target] : module->aliases)
    if (const auto found = image->function_by_name.find(target);
        found != image->function_by_name.end())
      image->function_by_name[alias] = found->second;

  image->function_tokens = memory.allocate(
      std::max<size_t>(1, image->functions.size()) * ProgramImage::kFunctionTokenStep,
      Allocation::Kind::Variable, "functions");
  if (image->function_tokens == 0)
    return Error("device memory is full: no room for function addresses");

  // Module-scope shared variables that a kernel cannot reach take no room in it: each kernel gets
  // the layout up to the last one that it or its callees mention.
  const uint32_t reserved = model.reserved_shared_per_block;
  uint32_t end = reserved;
  struct Placed {
    const ptx::Variable* variable;
    uint32_t end;
  };
  std::vector<Placed> placed;
  for (const ptx::Variable& v : module->variables) {
    if (is_shared(v)) {
      place_shared(*image, v.name, v, end);
      placed.push_back({&v, end});
    } else if (is_device(v)) {
      TRY(place_device(*image, memory, v));
    }
  }
  for (const ptx::Function& f : module->functions)
    for (const ptx::Variable& v : f.variables)
      if (is_device(v)) TRY(place_device(*image, memory, v));

  std::unordered_map<const ptx::Function*, uint32_t> function_shared_end;
  for (const ptx::Function& f : module->functions) {
    uint32_t own = end;
    if (f.kind == ptx::Function::Kind::Device) {
      // A device function's shared variables must not overlap a caller's: they extend the module's.
      for (const ptx::Variable& v : f.variables)
        if (is_shared(v)) {
          place_shared(*image, shared_key(f, v), v, end);
          placed.push_back({&v, end});
        }
      own = end;
    }
    function_shared_end[&f] = own;
  }
  for (const ptx::Function& f : module->functions) {
    if (f.kind != ptx::Function::Kind::Entry || !f.has_body) continue;
    std::unordered_set<const ptx::Function*> reached;
    collect_calls(*image, f, reached);
    uint32_t own = reserved;
    for (const Placed& p : placed)
      for (const ptx::Function* g : reached) {
        const bool declared = p.variable >= g->variables.data() &&
                              p.variable < g->variables.data() + g->variables.size();
        if (declared || mentions(*g, p.variable->name)) own = std::max(own, p.end);
      }
    for (const ptx::Variable& v : f.variables)
      if (is_shared(v)) place_shared(*image, shared_key(f, v), v, own);
    function_shared_end[&f] = own;
  }

  Error errors;
  for (auto& code : image->functions) {
    Lowering lowering(*image, *code->source, *code);
    if (auto done = lowering.run(); !done.ok())
      for (Diagnostic& d : done.error().diagnostics) errors.diagnostics.push_back(std::move(d));
    code->first_counter = image->counter_count;
    image->counter_count += static_cast<uint32_t>(code->ops.size());
  }
  if (!errors.diagnostics.empty()) return errors;
  image->size_counts();

  for (const ptx::Variable& v : module->variables)
    if (is_device(v)) TRY(initialise(*image, v));
  for (const ptx::Function& f : module->functions)
    for (const ptx::Variable& v : f.variables)
      if (is_device(v)) TRY(initialise(*image, v));

  for (auto& code : image->functions) {
    if (code->source->kind != ptx::Function::Kind::Entry) continue;
    auto kernel = std::make_unique<Kernel>();
    kernel->code = code.get();
    kernel->program = image.get();
    kernel->static_shared = function_shared_end[code->source];
    kernel->info = describe(*code->source, *code, kernel->static_shared, reserved);
    image->kernels_.push_back(std::move(kernel));
  }
  return image;
}

}  // namespace weft::emulator
