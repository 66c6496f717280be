// SPDX-License-Identifier: Apache-2.0

// From image to program: read the container, link separate units, parse, load on the machine.
#include "ptxbench/cudart/module.h"

#include <fstream>
#include <iterator>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "ptxbench/cudart/process.h"
#include "ptxbench/fatbin/link.h"
#include "ptxbench/ptx/parse.h"

namespace weft::cudart {
namespace {

struct Variable {
  Module* module = nullptr;
  std::string name;
  size_t size = 0;
};

struct Registry {
  std::recursive_mutex mutex;
  std::set<Module*> modules;
  std::unordered_map<const void*, Kernel*> kernels;     // by host symbol
  std::unordered_map<const void*, Variable> variables;  // by host symbol
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

}  // namespace

Module::~Module() {
  unload();
}

Status Module::load_program(std::string& log) {
  if (image_ != nullptr) text_ = read_image(image_, model().compute_major, model().compute_minor);
  if (text_.status != Status::Success) {
    log += format(text_.why);
    return text_.status;
  }
  std::string text;
  if (text_.units.size() == 1) {
    text = text_.units.front();
  } else {
    auto linked = fatbin::link_ptx(text_.units);
    if (!linked.ok()) {
      log += format(linked.error());
      return Status::InvalidPtx;
    }
    text = std::move(*linked);
  }
  auto parsed = ptx::parse(std::move(text), "embedded.ptx");
  if (!parsed.ok()) {
    log += format(parsed.error());
    return Status::InvalidPtx;
  }
  auto loaded = machine().load(std::move(*parsed));
  if (!loaded.ok()) {
    log += format(loaded.error());
    return Status::InvalidPtx;
  }
  program_ = std::move(*loaded);
  for (const emulator::Kernel* code : program_->kernels()) {
    const std::string& name = emulator::info(*code).name;
    std::unique_ptr<Kernel>& kernel = kernels_[name];
    if (!kernel) {
      kernel = std::make_unique<Kernel>();
      kernel->module = this;
      kernel->name = name;
    }
    kernel->code = code;
  }
  return Status::Success;
}

Status Module::load(std::string* log) {
  const std::lock_guard lock(mutex_);
  if (tried_) return answer_;
  tried_ = true;
  std::string own;
  answer_ = load_program(own);
  if (answer_ == Status::Success) {
    tie();
  } else if (log != nullptr) {
    *log += own;
  } else {
    complain_once(own);
  }
  return answer_;
}

void Module::unload() {
  const std::lock_guard lock(mutex_);
  if (program_) keep_counts(*program_, runs_);
  for (auto& [name, kernel] : kernels_) kernel->code = nullptr;
  program_.reset();
  runs_.clear();
  tried_ = false;
}

Kernel* Module::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second.get();
  if (program_) return nullptr;
  auto kernel = std::make_unique<Kernel>();
  kernel->module = this;
  kernel->name = name;
  return (kernels_[name] = std::move(kernel)).get();
}

std::vector<Kernel*> Module::kernels() {
  const std::lock_guard lock(mutex_);
  std::vector<Kernel*> list;
  for (auto& [name, kernel] : kernels_)
    if (kernel->code != nullptr) list.push_back(kernel.get());
  return list;
}

std::optional<emulator::Program::Symbol> Module::variable(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return program_ ? program_->find_variable(name) : std::nullopt;
}

bool Module::is_managed(const std::string& name) const {
  if (!program_) return false;
  for (const ptx::Variable& variable : program_->module().variables)
    if (variable.name == name) return variable.managed;
  return false;
}

void Module::tie_managed(void** host_pointer, std::string name) {
  const std::lock_guard lock(mutex_);
  managed_.emplace_back(host_pointer, std::move(name));
  if (program_) tie();
}

void Module::tie() {
  for (const auto& [host_pointer, name] : managed_)
    if (const auto symbol = program_->find_variable(name))
      *host_pointer = reinterpret_cast<void*>(symbol->address);
}

void Module::count_launch(const std::string& kernel, double seconds) {
  const std::lock_guard lock(mutex_);
  KernelRuns& run = runs_[kernel];
  ++run.launches;
  run.seconds += seconds;
}

// Registration
// --------------------------------------------------------------------------------------

Module* register_image(const void* image) {
  auto* module = new Module(image);
  const std::lock_guard lock(registry().mutex);
  registry().modules.insert(module);
  return module;
}

void register_kernel(Module* module, const void* host_symbol, const char* name) {
  if (Module::find(module) == nullptr || name == nullptr) return;
  Kernel* kernel = module->kernel(name);
  const std::lock_guard lock(registry().mutex);
  if (kernel != nullptr) registry().kernels[host_symbol] = kernel;
}

void register_variable(Module* module, const void* host_symbol, const char* name, size_t size) {
  if (Module::find(module) == nullptr || name == nullptr) return;
  const std::lock_guard lock(registry().mutex);
  registry().variables[host_symbol] = {module, name, size};
}

void register_managed(Module* module, void** host_pointer, const char* name, size_t size) {
  if (Module::find(module) == nullptr || name == nullptr) return;
  register_variable(module, host_pointer, name, size);
  module->tie_managed(host_pointer, name);
}

void release_module(Module* module) {
  {
    const std::lock_guard lock(registry().mutex);
    if (registry().modules.erase(module) == 0) return;
    std::erase_if(registry().kernels,
                  [&](const auto& entry) { return entry.second->module == module; });
    std::erase_if(registry().variables,
                  [&](const auto& entry) { return entry.second.module == module; });
  }
  delete module;
}

void unload_all_modules() {
  each_module([](Module& module, void*) { module.unload(); }, nullptr);
}

void each_module(void (*visit)(Module& module, void* context), void* context) {
  const std::lock_guard lock(registry().mutex);
  for (Module* module : registry().modules) visit(*module, context);
}

// Loading at once
// -----------------------------------------------------------------------------------

Status load_module(ImageText text, Module** module, std::string* log) {
  if (module == nullptr) return Status::InvalidValue;
  auto made = std::make_unique<Module>(std::move(text));
  EXPECT_SUCCESS(made->load(log));
  const std::lock_guard lock(registry().mutex);
  registry().modules.insert(made.get());
  *module = made.release();
  return Status::Success;
}

Status load_module(const void* image, Module** module, std::string* log) {
  if (image == nullptr) return Status::InvalidValue;
  return load_module(read_image(image, model().compute_major, model().compute_minor), module, log);
}

Status load_module_file(const char* path, Module** module, std::string* log) {
  if (path == nullptr) return Status::InvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::FileNotFound;
  // A NUL ends PTX text; other images carry their own size.
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return load_module(static_cast<const void*>(bytes.c_str()), module, log);
}

Status unload_module(Module* module) {
  if (Module::find(module) == nullptr) return Status::InvalidResourceHandle;
  release_module(module);
  return Status::Success;
}

Status list_module_kernels(Module* module, void** kernels, unsigned capacity, unsigned* count) {
  if (Module::find(module) == nullptr) return Status::InvalidResourceHandle;
  const std::vector<Kernel*> list = module->kernels();
  if (count != nullptr) *count = static_cast<unsigned>(list.size());
  if (kernels == nullptr) return count != nullptr ? Status::Success : Status::InvalidValue;
  for (unsigned i = 0; i < capacity && i < list.size(); ++i) kernels[i] = list[i];
  return Status::Success;
}

// Look-up
// -------------------------------------------------------------------------------------------

Status find_registered_kernel(const void* host_symbol, Kernel** kernel) {
  if (kernel == nullptr) return Status::InvalidValue;
  const std::lock_guard lock(registry().mutex);
  const auto entry = registry().kernels.find(host_symbol);
  if (entry == registry().kernels.end()) return Status::InvalidDeviceFunction;
  *kernel = entry->second;
  return Status::Success;
}

Status find_kernel(const void* symbol_or_handle, Kernel** kernel) {
  Kernel* found = nullptr;
  if (find_registered_kernel(symbol_or_handle, &found) != Status::Success)
    found = Kernel::find(symbol_or_handle);
  if (found == nullptr) return Status::InvalidDeviceFunction;
  EXPECT_SUCCESS(found->module->load());
  if (found->code == nullptr) {
    complain_once(fmt::format("the embedded PTX has no kernel {}", found->name));
    return Status::InvalidDeviceFunction;
  }
  *kernel = found;
  return Status::Success;
}

Status find_in_module(Module* module, const char* name, Kernel** kernel) {
  if (name == nullptr || kernel == nullptr) return Status::InvalidValue;
  if (Module::find(module) == nullptr) return Status::InvalidResourceHandle;
  EXPECT_SUCCESS(module->load());
  Kernel* found = module->kernel(name);
  if (found == nullptr || found->code == nullptr) return Status::SymbolNotFound;
  *kernel = found;
  return Status::Success;
}

Status find_symbol(Module* module, const char* name, void** address, size_t* size) {
  if (name == nullptr) return Status::InvalidValue;
  if (Module::find(module) == nullptr) return Status::InvalidResourceHandle;
  EXPECT_SUCCESS(module->load());
  const auto symbol = module->variable(name);
  if (!symbol) return Status::SymbolNotFound;
  if (address != nullptr) *address = reinterpret_cast<void*>(symbol->address);
  if (size != nullptr) *size = symbol->size;
  return Status::Success;
}

Status find_symbol(const void* host_symbol, void** address, size_t* size) {
  Variable variable;
  {
    const std::lock_guard lock(registry().mutex);
    const auto entry = registry().variables.find(host_symbol);
    if (entry != registry().variables.end()) variable = entry->second;
  }
  if (variable.module == nullptr) {
    // A __managed__ variable is named by its own address: its host pointer has been followed
    // already.
    const auto allocation = machine().memory().find(reinterpret_cast<uint64_t>(host_symbol));
    if (!allocation || allocation->label.empty()) return Status::InvalidSymbol;
    if (address != nullptr) *address = const_cast<void*>(host_symbol);
    if (size != nullptr) *size = allocation->size;
    return Status::Success;
  }
  EXPECT_SUCCESS(variable.module->load());
  const auto symbol = variable.module->variable(variable.name);
  if (!symbol) return Status::InvalidSymbol;
  if (address != nullptr) *address = reinterpret_cast<void*>(symbol->address);
  if (size != nullptr) *size = variable.size != 0 ? variable.size : symbol->size;
  return Status::Success;
}

}  // namespace weft::cudart
