// SPDX-License-Identifier: Apache-2.0

// ptx_cases_on_device FILE.ptx...: runs cases of tests/ptx on whichever driver the loader finds, a
// GPU's or the emulator's, and compares what they give with their header. Cases that end in a
// fault, that ask for another device, or that state a promise of the emulator are left out. A case
// that breaks the driver's context costs only itself: the ones after it run in a new process.

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/ptx/case_file.h"

namespace weft::ptx_cases {
namespace {

// The driver API's ABI, as far as cases need it.
using Status = int;
using Handle = void*;
struct LaunchAttribute {
  int id = 0;
  char padding[4] = {};
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value = {};
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  Handle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
constexpr int kClusterDimension = 4;
constexpr int kMaxDynamicShared = 8;

struct Driver {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

  template <typename... Arguments>
  Status call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<Status (*)(Arguments...)>(dlsym(library, name));
    return function == nullptr ? -1 : function(arguments...);
  }

  bool begin() const {
    int device = 0;
    Handle context = nullptr;
    return library != nullptr && call("cuInit", 0u) == 0 && call("cuDeviceGet", &device, 0) == 0 &&
           call("cuDevicePrimaryCtxRetain", &context, device) == 0 &&
           call("cuCtxSetCurrent", context) == 0;
  }
};

int element_code(isa::Type type) {  // CUtensorMapDataType
  using isa::Type;
  switch (type) {
    case Type::U8:
      return 0;
    case Type::U16:
      return 1;
    case Type::S32:
      return 3;
    case Type::U64:
      return 4;
    case Type::F16:
      return 6;
    case Type::F32:
      return 7;
    case Type::F64:
      return 8;
    case Type::Bf16:
      return 9;
    default:
      return 2;
  }
}

struct alignas(64) Map {
  unsigned char bytes[128];
};

Status encode_map(const Driver& driver, const Item& item, const Item& array, uint64_t address,
                  Map& map) {
  const auto rank = static_cast<uint32_t>(item.extents.size());
  uint64_t extents[5], strides[5];
  uint32_t box[5], steps[5];
  uint64_t stride = static_cast<uint64_t>(isa::bits(array.type)) / 8;
  for (size_t d = 0; d < rank; ++d) {
    extents[d] = item.extents[d];
    box[d] = d < item.box.size() ? static_cast<uint32_t>(item.box[d]) : 1;
    steps[d] = d < item.element_strides.size() ? static_cast<uint32_t>(item.element_strides[d]) : 1;
    if (d > 0) stride = strides[d - 1] = d - 1 < item.strides.size() ? item.strides[d - 1] : stride;
    stride *= extents[d];
  }
  const int swizzle = item.swizzle == 128 ? 3 : item.swizzle == 64 ? 2 : item.swizzle == 32 ? 1 : 0;
  return driver.call("cuTensorMapEncodeTiled", &map, element_code(array.type), rank,
                     reinterpret_cast<void*>(address), static_cast<const uint64_t*>(extents),
                     static_cast<const uint64_t*>(strides), static_cast<const uint32_t*>(box),
                     static_cast<const uint32_t*>(steps), 0, swizzle, 0, item.fill_nan ? 1 : 0);
}

// CUDA arrays behind textures and surfaces, and the driver's ways to describe them.
struct ArrayDescriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
struct Copy3D {
  size_t source_at[4] = {};
  int source_type = 0;
  const void* source_host = nullptr;
  uint64_t source_device = 0;
  Handle source_array = nullptr;
  void* reserved0 = nullptr;
  size_t source_pitch = 0, source_height = 0;
  size_t target_at[4] = {};
  int target_type = 0;
  void* target_host = nullptr;
  uint64_t target_device = 0;
  Handle target_array = nullptr;
  void* reserved1 = nullptr;
  size_t target_pitch = 0, target_height = 0;
  size_t width = 0, height = 1, depth = 1;
};
constexpr int kDeviceMemory = 2, kArrayMemory = 3;
struct Resource {
  int type = 0;  // array
  union {
    Handle array;
    int reserved[32];
  } value = {};
  unsigned flags = 0;
};
struct Sampler {
  int address_mode[3] = {}, filter_mode = 0;
  unsigned flags = 0, max_anisotropy = 0;
  int mipmap_filter_mode = 0;
  float mipmap[3] = {}, border[4] = {};
  int reserved[12] = {};
};

int format_code(isa::Type type) {  // CUarray_format
  using isa::Type;
  switch (type) {
    case Type::U8:
      return 0x01;
    case Type::U16:
      return 0x02;
    case Type::S8:
      return 0x08;
    case Type::S16:
      return 0x09;
    case Type::S32:
      return 0x0a;
    case Type::F16:
      return 0x10;
    case Type::F32:
      return 0x20;
    default:
      return 0x03;
  }
}

struct ArrayBehind {
  Handle array = nullptr;
  uint64_t object = 0;
  Copy3D copy;  // from the case's memory into the array

  Status make(const Driver& driver, const Item& item, const Item& data, uint64_t address) {
    const auto extent = [&](size_t d) { return d < item.extents.size() ? item.extents[d] : 0; };
    const bool surface = item.role == Item::Role::Surface;
    const ArrayDescriptor wanted{
        extent(0),     extent(1),
        extent(2),     format_code(data.type),
        item.channels, (item.layered ? 1u : 0u) | (surface ? 2u : 0u) | (item.cube ? 4u : 0u)};
    const ArrayDescriptor* description = &wanted;
    if (Status s = driver.call("cuArray3DCreate_v2", &array, description)) return s;
    copy.source_type = kDeviceMemory;
    copy.source_device = address;
    copy.width = extent(0) * item.channels * static_cast<size_t>(isa::bits(data.type)) / 8;
    copy.height = std::max<size_t>(extent(1), 1);
    copy.depth = std::max<size_t>(extent(2), 1);
    copy.source_pitch = copy.width;
    copy.source_height = copy.height;
    copy.target_type = kArrayMemory;
    copy.target_array = array;
    const Copy3D* there = &copy;
    if (Status s = driver.call("cuMemcpy3D_v2", there)) return s;
    Resource resource;
    resource.value.array = array;
    const Resource* behind = &resource;
    if (surface) return driver.call("cuSurfObjectCreate", &object, behind);
    Sampler sampler;
    for (int& mode : sampler.address_mode) mode = static_cast<int>(item.address_mode);
    sampler.filter_mode = item.linear ? 1 : 0;
    sampler.flags = (item.floats ? 0u : 1u) | (item.normalized ? 2u : 0u);
    const Sampler* how = &sampler;
    const void* view = nullptr;
    return driver.call("cuTexObjectCreate", &object, behind, how, view);
  }

  Status bring_back(const Driver& driver) const {
    Copy3D back;
    back.source_type = kArrayMemory;
    back.source_array = array;
    back.target_type = kDeviceMemory;
    back.target_device = copy.source_device;
    back.target_pitch = copy.source_pitch;
    back.target_height = copy.source_height;
    back.width = copy.width;
    back.height = copy.height;
    back.depth = copy.depth;
    const Copy3D* here = &back;
    return driver.call("cuMemcpy3D_v2", here);
  }
};

struct Outcome {
  Status status = 0;
  std::string what;  // the call that failed, or the first difference
  bool good() const { return status == 0 && what.empty(); }
};

Outcome compare(const Item& item, const std::vector<unsigned char>& bytes) {
  const size_t width = static_cast<size_t>(isa::bits(item.type)) / 8;
  for (size_t i = 0; i < item.values.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    if (item.values[i].kind != Value::Kind::Bits || bits == item.values[i].bits) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%s[%zu] is 0x%llx, expected 0x%llx", item.name.c_str(), i,
                  static_cast<unsigned long long>(bits),
                  static_cast<unsigned long long>(item.values[i].bits));
    return {0, text};
  }
  return {};
}

Outcome run(const Driver& driver, const CaseFile& file) {
  Handle module = nullptr, kernel = nullptr;
  if (Status s = driver.call("cuModuleLoadData", &module, file.text.c_str())) return {s, "loading"};
  unsigned count = 0;
  if (Status s = driver.call("cuModuleGetFunctionCount", &count, module)) return {s, "counting"};
  if (Status s = driver.call("cuModuleEnumerateFunctions", &kernel, 1u, module))
    return {s, "finding the kernel"};

  std::map<std::string, uint64_t> arrays;
  std::map<std::string, const Item*> items;
  for (const Item& item : file.items) {
    if (!item.is_array()) continue;
    items[item.name] = &item;
    uint64_t& address = arrays[item.name];
    if (Status s = driver.call("cuMemAlloc_v2", &address, item.bytes() + 1))
      return {s, "allocating"};
    std::vector<unsigned char> bytes(item.bytes());
    const size_t width = static_cast<size_t>(isa::bits(item.type)) / 8;
    if (item.role != Item::Role::Out)
      for (size_t i = 0; i < item.values.size(); ++i)
        std::memcpy(bytes.data() + i * width, &item.values[i].bits, width);
    const void* from = bytes.data();
    if (Status s = driver.call("cuMemcpyHtoD_v2", address, from, bytes.size()))
      return {s, "copying"};
  }
  std::vector<std::unique_ptr<Map>> maps;
  std::vector<std::unique_ptr<ArrayBehind>> behind;
  std::vector<void*> arguments;
  for (const Item& item : file.items) {
    if (!item.is_parameter()) continue;
    if (item.role == Item::Role::Map) {
      maps.push_back(std::make_unique<Map>());
      if (Status s = encode_map(driver, item, *items.at(item.of), arrays.at(item.of), *maps.back()))
        return {s, "encoding a tensor map"};
      arguments.push_back(maps.back().get());
    } else if (item.role == Item::Role::Texture || item.role == Item::Role::Surface) {
      behind.push_back(std::make_unique<ArrayBehind>());
      if (Status s = behind.back()->make(driver, item, *items.at(item.of), arrays.at(item.of)))
        return {s, "making a texture or surface"};
      arguments.push_back(&behind.back()->object);
    } else if (item.role == Item::Role::Value) {
      arguments.push_back(const_cast<uint64_t*>(&item.values.at(0).bits));
    } else {
      arguments.push_back(&arrays.at(item.name));
    }
  }
  LaunchAttribute cluster{.id = kClusterDimension};
  cluster.value.cluster = {file.cluster.x, file.cluster.y, file.cluster.z};
  LaunchConfig config{{file.grid.x, file.grid.y, file.grid.z},
                      {file.block.x, file.block.y, file.block.z},
                      file.shared,
                      nullptr,
                      &cluster,
                      file.cluster.count() > 1 ? 1u : 0u};
  driver.call("cuFuncSetAttribute", kernel, kMaxDynamicShared, static_cast<int>(file.shared));
  void** extra = nullptr;
  const LaunchConfig* how = &config;
  if (Status s = driver.call("cuLaunchKernelEx", how, kernel, arguments.data(), extra))
    return {s, "launching"};
  if (Status s = driver.call("cuCtxSynchronize")) return {s, "running"};
  for (const auto& array : behind)
    if (Status s = array->bring_back(driver)) return {s, "reading an array back"};
  for (const Item& item : file.items) {
    if (item.role != Item::Role::Out && item.role != Item::Role::Expect) continue;
    std::vector<unsigned char> bytes(item.bytes());
    void* to = bytes.data();
    if (Status s = driver.call("cuMemcpyDtoH_v2", to, arrays.at(item.name), bytes.size()))
      return {s, "copying back"};
    if (Outcome outcome = compare(item, bytes); !outcome.good()) return outcome;
  }
  for (const auto& [name, address] : arrays) driver.call("cuMemFree_v2", address);
  driver.call("cuModuleUnload", module);
  return {};
}

struct Tally {
  int next = 0, good = 0, bad = 0, left_out = 0;
};

// Runs cases from tally.next on until the end or until a call fails, which may break the context.
void run_some(const std::vector<std::string>& paths, Tally& tally) {
  const Driver driver;
  if (!driver.begin()) _exit(3);
  while (tally.next < static_cast<int>(paths.size())) {
    const std::string& path = paths[static_cast<size_t>(tally.next++)];
    std::ifstream stream(path);
    const auto file = parse_case({std::istreambuf_iterator<char>(stream), {}});
    if (!file.ok() || file->fault_kind || file->refused || file->only_emulator ||
        file->device != "h100") {
      ++tally.left_out;
      continue;
    }
    const Outcome outcome = run(driver, *file);
    ++(outcome.good() ? tally.good : tally.bad);
    if (outcome.good()) continue;
    std::printf("differs %s: %s%s\n", path.c_str(), outcome.what.c_str(),
                outcome.status == 0 ? "" : (" answered " + std::to_string(outcome.status)).c_str());
    std::fflush(stdout);
    if (outcome.status != 0) _exit(0);
  }
  _exit(0);
}

int run_all(const std::vector<std::string>& paths) {
  // Shared with the children, so that the next one knows where to go on.
  auto* tally =
      new (mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          Tally;
  while (tally->next < static_cast<int>(paths.size())) {
    const pid_t child = fork();
    if (child == 0) run_some(paths, *tally);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
      std::fprintf(stderr, "no CUDA driver answers\n");
      return 3;
    }
    if (WIFSIGNALED(status)) {
      std::printf("differs %s: ended by signal %d\n",
                  paths[static_cast<size_t>(tally->next - 1)].c_str(), WTERMSIG(status));
      ++tally->bad;
    }
  }
  std::printf("%d cases as stated, %d differ, %d left out\n", tally->good, tally->bad,
              tally->left_out);
  return tally->bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weft::ptx_cases

int main(int count, char** arguments) {
  return weft::ptx_cases::run_all({arguments + 1, arguments + count});
}
