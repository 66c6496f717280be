// SPDX-License-Identifier: Apache-2.0

// Loaded device code and what programs find in it: kernels and variables, by name and by the host
// symbols that nvcc's start-up code registers. Code is parsed when something in it is first used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/image.h"
#include "ptxbench/cudart/live.h"
#include "ptxbench/cudart/report.h"
#include "ptxbench/cudart/status.h"
#include "ptxbench/emulator/machine.h"

namespace weft::cudart {

class Module;

// What cudaKernel_t, cudaFunction_t, CUfunction and CUkernel point to.
struct Kernel : Live<Kernel> {
  Module* module = nullptr;
  std::string name;
  const emulator::Kernel* code = nullptr;  // set once the module is loaded

  // What cudaFuncSetAttribute changes.
  uint32_t max_dynamic_shared = 0;    // bytes; 0: what fits without opting in
  bool non_portable_cluster = false;  // clusters of more than 8 blocks
  int carveout = -1;
  int cluster_policy = 0;
  int cache_config = 0;
  bool cluster_must_be_set = false;
  uint32_t required_cluster[3] = {0, 0, 0};
};

// What cudaLibrary_t, CUlibrary and CUmodule point to, and the handle of registered fat binaries.
class Module : public Live<Module> {
 public:
  explicit Module(const void* image) : image_(image) {}  // the image outlives the module
  explicit Module(ImageText text) : text_(std::move(text)) {}
  ~Module();

  // Parses and loads on the first call; later calls repeat the first answer. What went wrong is
  // appended to `log`, or printed once when there is none.
  Status load(std::string* log = nullptr);
  // Drops the loaded program (cudaDeviceReset); the next use loads it afresh.
  void unload();

  // The kernel of this name, whether loaded or not; nullptr when the loaded code has none.
  Kernel* kernel(const std::string& name);
  std::vector<Kernel*> kernels();  // of the loaded code
  std::optional<emulator::Program::Symbol> variable(const std::string& name);
  // Makes the host pointer of a __managed__ variable follow the loaded code.
  void tie_managed(void** host_pointer, std::string name);
  void count_launch(const std::string& kernel, double seconds);

  const emulator::Program* program() const { return program_.get(); }
  const RunsByKernel& runs() const { return runs_; }
  bool is_managed(const std::string& name) const;

 private:
  Status load_program(std::string& log);
  void tie();

  std::recursive_mutex mutex_;
  const void* image_ = nullptr;
  ImageText text_;
  bool tried_ = false;
  Status answer_ = Status::Success;
  std::shared_ptr<emulator::Program> program_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  std::vector<std::pair<void**, std::string>> managed_;
  RunsByKernel runs_;
};

// Start-up registration. The returned handle lives until release_module().
Module* register_image(const void* image);
void register_kernel(Module* module, const void* host_symbol, const char* name);
void register_variable(Module* module, const void* host_symbol, const char* name, size_t size);
void register_managed(Module* module, void** host_pointer, const char* name, size_t size);
void release_module(Module* module);

// Loads at once: for cuModuleLoadData and cudaLibraryLoadData.
Status load_module(ImageText text, Module** module, std::string* log);
Status load_module(const void* image, Module** module, std::string* log);
Status load_module_file(const char* path, Module** module, std::string* log);

Status unload_module(Module* module);
// Without a list only the count; else at most `capacity` kernel handles.
Status list_module_kernels(Module* module, void** kernels, unsigned capacity, unsigned* count);

// A kernel from a host symbol or from a kernel handle, loaded and ready to run.
// InvalidDeviceFunction when it is neither, or why its module does not load.
Status find_kernel(const void* symbol_or_handle, Kernel** kernel);
// Only looks up, loads nothing.
Status find_registered_kernel(const void* host_symbol, Kernel** kernel);
Status find_in_module(Module* module, const char* name, Kernel** kernel);

// Address and size of a variable, from its host symbol or by name in a module.
Status find_symbol(const void* host_symbol, void** address, size_t* size);
Status find_symbol(Module* module, const char* name, void** address, size_t* size);

void unload_all_modules();
template <typename Visit>
void each_loaded_program(Visit visit);
void each_module(void (*visit)(Module& module, void* context), void* context);

template <typename Visit>
void each_loaded_program(Visit visit) {
  each_module(
      [](Module& module, void* context) {
        if (module.program() != nullptr)
          (*static_cast<Visit*>(context))(*module.program(), module.runs());
      },
      &visit);
}

}  // namespace weft::cudart
