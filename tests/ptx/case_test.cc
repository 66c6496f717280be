// SPDX-License-Identifier: Apache-2.0

// Runs every case below tests/ptx on the emulator, under many schedules: what a program
// without races gives must not depend on the order in which its warps and copies run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "ptxbench/emulator/machine.h"
#include "ptxbench/emulator/tensor_map.h"
#include "ptxbench/emulator/texture_object.h"
#include "ptxbench/ptx/parse.h"
#include "tests/ptx/case_file.h"

namespace weft::ptx_cases {
namespace {

namespace fs = std::filesystem;
using emulator::GlobalMemory;
using emulator::TensorMap;
using emulator::TextureObject;

const char* const kFolder = "tests/ptx";
// Seeds differ in style; these are all of them, and the plain order.
constexpr uint64_t kSchedules = 17;

// `refused/` holds programs for the parser's own test, which expects diagnostics to the letter.
std::vector<std::string> case_paths() {
  std::vector<std::string> paths;
  if (fs::exists(kFolder))
    for (const auto& entry : fs::recursive_directory_iterator(kFolder))
      if (entry.path().extension() == ".ptx" && entry.path().parent_path().filename() != "refused")
        paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// --- What the kernel is given
// ---------------------------------------------------------------------------

struct Memory {
  GlobalMemory* memory = nullptr;
  std::map<std::string, uint64_t> arrays;  // name -> address

  ~Memory() {
    for (const auto& [name, address] : arrays) memory->free(address);
  }
};

void place_array(const Item& item, Memory& memory) {
  const uint64_t address = memory.memory->allocate(std::max<size_t>(1, item.bytes()));
  ASSERT_NE(address, 0u);
  memory.arrays[item.name] = address;
  auto* bytes = reinterpret_cast<std::byte*>(address);
  std::memset(bytes, 0, item.bytes());
  if (item.role == Item::Role::Out) return;
  const size_t width = static_cast<size_t>(isa::bits(item.type)) / 8;
  for (size_t i = 0; i < item.values.size(); ++i)
    std::memcpy(bytes + i * width, &item.values[i].bits, width);
}

emulator::TensorElement element_of(isa::Type type) {
  using emulator::TensorElement;
  using isa::Type;
  switch (type) {
    case Type::U8:
      return TensorElement::U8;
    case Type::U16:
      return TensorElement::U16;
    case Type::S32:
      return TensorElement::S32;
    case Type::F16:
      return TensorElement::F16;
    case Type::Bf16:
      return TensorElement::Bf16;
    case Type::F32:
      return TensorElement::F32;
    case Type::F64:
      return TensorElement::F64;
    case Type::U64:
      return TensorElement::U64;
    default:
      return TensorElement::U32;
  }
}

TensorMap make_map(const Item& item, const Item& array, uint64_t address) {
  TensorMap map;
  map.global_address = address;
  map.element = element_of(array.type);
  map.rank = static_cast<uint8_t>(item.extents.size());
  uint64_t stride = static_cast<uint64_t>(isa::bits(array.type)) / 8;
  for (size_t d = 0; d < item.extents.size(); ++d) {
    map.last_index[d] = static_cast<uint32_t>(item.extents[d] - 1);
    map.box[d] = static_cast<uint16_t>(d < item.box.size() ? item.box[d] : 1);
    map.element_strides[d] =
        static_cast<uint8_t>(d < item.element_strides.size() ? item.element_strides[d] : 1);
    if (d > 0) map.strides[d - 1] = d - 1 < item.strides.size() ? item.strides[d - 1] : stride;
    stride = (d > 0 ? map.strides[d - 1] : stride) * item.extents[d];
  }
  using emulator::TensorSwizzle;
  map.swizzle = item.swizzle == 128  ? TensorSwizzle::Bytes128
                : item.swizzle == 64 ? TensorSwizzle::Bytes64
                : item.swizzle == 32 ? TensorSwizzle::Bytes32
                                     : TensorSwizzle::None;
  map.fill = item.fill_nan ? emulator::TensorFill::Nan : emulator::TensorFill::Zero;
  seal(map);
  return map;
}

// Writes the object beside the arrays, where the runtime would put it.
void place_texture(const Item& item, const CaseFile& file, Memory& memory) {
  const auto array = std::find_if(file.items.begin(), file.items.end(),
                                  [&](const Item& other) { return other.name == item.of; });
  ASSERT_NE(array, file.items.end()) << "no array for " << item.name;
  TextureObject object;
  object.channels = static_cast<uint8_t>(item.channels);
  object.channel_bits = static_cast<uint8_t>(isa::bits(array->type));
  object.channel = isa::is_float(array->type)    ? TextureObject::Channel::Float
                   : isa::is_signed(array->type) ? TextureObject::Channel::Signed
                                                 : TextureObject::Channel::Unsigned;
  const auto extent = [&](size_t d) {
    return d < item.extents.size() ? static_cast<uint32_t>(item.extents[d]) : 1;
  };
  TextureObject::Level& level = object.levels[0];
  level.data = memory.arrays.at(item.of);
  level.width = extent(0);
  level.height = extent(1);
  level.depth = extent(2);
  level.pitch = level.width * object.texel_bytes();
  level.slice = level.pitch * level.height;
  object.shape = item.cube ? TextureObject::Shape::Cube : TextureObject::Shape::D2;
  object.layered = item.layered;
  object.surface = item.role == Item::Role::Surface;
  for (auto& mode : object.address) mode = static_cast<TextureObject::Address>(item.address_mode);
  object.linear_filter = item.linear;
  object.normalized_coordinates = item.normalized;
  object.normalized_read = item.floats;
  const uint64_t address = memory.memory->allocate(sizeof object);
  ASSERT_NE(address, 0u);
  std::memcpy(reinterpret_cast<void*>(address), &object, sizeof object);
  memory.arrays[item.name] = address;
}

std::vector<std::byte> make_parameters(const CaseFile& file, const emulator::KernelInfo& info,
                                       const Memory& memory) {
  std::vector<std::byte> bytes(info.parameter_bytes);
  size_t number = 0;
  for (const Item& item : file.items) {
    if (!item.is_parameter()) continue;
    if (number >= info.parameter_offsets.size()) {
      ADD_FAILURE() << "the kernel has no parameter for " << item.name;
      break;
    }
    std::byte* to = bytes.data() + info.parameter_offsets[number];
    const size_t size = info.parameter_sizes[number++];
    if (item.role == Item::Role::Map) {
      const auto array = std::find_if(file.items.begin(), file.items.end(),
                                      [&](const Item& other) { return other.name == item.of; });
      if (array == file.items.end() || size != sizeof(TensorMap)) {
        ADD_FAILURE() << "map " << item.name << " has no array or no parameter of 128 bytes";
        continue;
      }
      const TensorMap map = make_map(item, *array, memory.arrays.at(item.of));
      std::memcpy(to, &map, sizeof map);
    } else if (item.role == Item::Role::Value) {
      std::memcpy(to, &item.values.at(0).bits, std::min<size_t>(size, 8));
    } else {
      std::memcpy(to, &memory.arrays.at(item.name), std::min<size_t>(size, 8));
    }
  }
  return bytes;
}

// --- What it must give
// ----------------------------------------------------------------------------------

bool is_nan(uint64_t bits, isa::Type type) {
  const uint64_t infinity = type == isa::Type::F64    ? 0x7ff0000000000000
                            : type == isa::Type::F32  ? 0x7f800000
                            : type == isa::Type::Bf16 ? 0x7f80
                                                      : 0x7c00;
  const uint64_t magnitude = (uint64_t{1} << (isa::bits(type) - 1)) - 1;
  return (bits & magnitude) > infinity;
}

void expect_array(const Item& item, uint64_t address) {
  const size_t width = static_cast<size_t>(isa::bits(item.type)) / 8;
  for (size_t i = 0; i < item.values.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const std::byte*>(address) + i * width, width);
    const Value& wanted = item.values[i];
    const bool good =
        wanted.kind == Value::Kind::Anything ||
        (wanted.kind == Value::Kind::AnyNan ? is_nan(bits, item.type) : bits == wanted.bits);
    EXPECT_TRUE(good) << item.name << "[" << i << "] is 0x" << std::hex << bits << ", expected 0x"
                      << wanted.bits;
  }
}

void expect_fault(const CaseFile& file, const std::optional<emulator::Fault>& fault) {
  if (!file.fault_kind) {
    EXPECT_FALSE(fault.has_value()) << format(*fault);
    return;
  }
  ASSERT_TRUE(fault.has_value()) << "no fault; expected: " << *file.fault_kind;
  EXPECT_EQ(name(fault->kind), *file.fault_kind) << format(*fault);
  if (file.fault_text) {
    EXPECT_NE(format(*fault).find(*file.fault_text), std::string::npos) << format(*fault);
  }
}

class Cases : public ::testing::TestWithParam<std::string> {};

TEST_P(Cases, GiveWhatTheirHeaderSays) {
  const auto file = parse_case(read_text(GetParam()));
  ASSERT_TRUE(file.ok()) << format(file.error());
  const auto* model = emulator::find_device_model(file->device);
  ASSERT_NE(model, nullptr) << file->device;
  SCOPED_TRACE(file->title);
  const auto module = ptx::parse(file->text, GetParam());
  // With every check the seed is that of the first run: what is right has to stay unnoticed.
  const auto named = emulator::parse_checks(file->checks.value_or(""));
  ASSERT_TRUE(named.ok()) << format(named.error());
  const auto all = emulator::parse_checks("all");
  const bool silent = !file->fault_kind && !file->refused && !file->races;
  const uint64_t schedules = file->only_plain_order ? 1 : kSchedules;
  for (uint64_t run = 0; run < schedules + (silent ? 1 : 0); ++run) {
    const bool checked = run == schedules;
    const uint64_t seed = run % schedules;
    SCOPED_TRACE("schedule seed " + std::to_string(seed) + (checked ? ", every check" : ""));
    if (!module.ok()) {
      ASSERT_TRUE(file->refused.has_value()) << format(module.error());
      EXPECT_NE(format(module.error()).find(*file->refused), std::string::npos)
          << format(module.error());
      return;
    }
    emulator::Machine machine(*model, {.schedule_seed = seed,
                                       .workers = 1,
                                       .max_seconds = 20,
                                       .checks = checked ? *all : *named});
    const auto program = machine.load(*module);
    if (!program.ok()) {
      ASSERT_TRUE(file->refused.has_value()) << format(program.error());
      EXPECT_NE(format(program.error()).find(*file->refused), std::string::npos)
          << format(program.error());
      return;
    }
    ASSERT_FALSE(file->refused.has_value()) << "loads, but should be refused";
    ASSERT_EQ((*program)->kernels().size(), 1u) << "a case has one entry";
    const emulator::Kernel* kernel = (*program)->kernels().front();

    Memory memory{.memory = &machine.memory(), .arrays = {}};
    for (const Item& item : file->items)
      if (item.is_array()) place_array(item, memory);
    for (const Item& item : file->items)
      if (item.role == Item::Role::Texture || item.role == Item::Role::Surface)
        place_texture(item, *file, memory);
    const auto parameters = make_parameters(*file, info(*kernel), memory);
    const auto outcome = machine.run({.kernel = kernel,
                                      .grid = file->grid,
                                      .block = file->block,
                                      .cluster = file->cluster,
                                      .dynamic_shared = file->shared,
                                      .parameters = parameters});
    ASSERT_TRUE(outcome.ok()) << format(outcome.error());
    expect_fault(*file, *outcome);
    if (outcome->has_value()) continue;
    for (const Item& item : file->items)
      if (item.role == Item::Role::Out || item.role == Item::Role::Expect)
        expect_array(item, memory.arrays.at(item.name));
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string text = fs::path(info.param).lexically_relative(kFolder).replace_extension().string();
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(Ptx, Cases, ::testing::ValuesIn(case_paths()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Cases);

}  // namespace
}  // namespace weft::ptx_cases
