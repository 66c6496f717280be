// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/cudart/texture.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "ptxbench/cudart/array.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/recorder.h"
#include "ptxbench/emulator/texture_object.h"

namespace weft::cudart {
namespace {

using emulator::TextureObject;
using Shape = TextureObject::Shape;

enum ResourceType : int { kArray, kMipmap, kLinear, kPitched };

// What the program asked for, by handle.
struct Request {
  abi::ResourceDescription resource{};
  abi::TextureDescription description{};
  abi::ResourceView view{};
};
struct Requests {
  std::mutex mutex;
  std::unordered_map<uint64_t, Request> by_handle;
};
// Never destroyed: programs call the API from destructors of their own statics.
Requests& requests() {
  static Requests& all = *new Requests;
  return all;
}

std::optional<Request> find_request(uint64_t handle) {
  const std::lock_guard lock(requests().mutex);
  const auto found = requests().by_handle.find(handle);
  if (found == requests().by_handle.end()) return std::nullopt;
  return found->second;
}

void describe(TextureObject& object, const abi::ChannelFormat& format) {
  object.channel_bits = static_cast<uint8_t>(format.x);
  object.channels = format.w ? 4 : format.y ? 2 : 1;
  object.channel = static_cast<TextureObject::Channel>(format.kind);
}

uint32_t at_least_one(size_t size) {
  return static_cast<uint32_t>(std::max<size_t>(size, 1));
}

TextureObject::Level level_of(const Array& array) {
  return {.data = reinterpret_cast<uint64_t>(array.data),
          .pitch = array.pitch,
          .slice = array.pitch * array.rows(),
          .width = static_cast<uint32_t>(array.extent.width),
          .height = at_least_one(array.extent.height),
          .depth = at_least_one(array.extent.depth)};
}

void look_at_array(TextureObject& object, const Array& array) {
  describe(object, array.format);
  object.levels[0] = level_of(array);
  object.layered = array.flags & Array::kLayered;
  object.shape = (array.flags & Array::kCubemap)         ? Shape::Cube
                 : array.extent.depth && !object.layered ? Shape::D3
                 : array.extent.height                   ? Shape::D2
                                                         : Shape::D1;
}

Status look_at(TextureObject& object, const abi::ResourceDescription& resource) {
  size_t element_bytes = 0;
  switch (resource.type) {
    case kArray: {
      const Array* array = Array::find(resource.array.array);
      if (array == nullptr) return Status::InvalidResourceHandle;
      look_at_array(object, *array);
      return Status::Success;
    }
    case kMipmap: {
      const Mipmap* mipmap = Mipmap::find(resource.mipmap.mipmap);
      if (mipmap == nullptr) return Status::InvalidResourceHandle;
      look_at_array(object, *mipmap->levels.front());
      object.level_count =
          static_cast<uint32_t>(std::min<size_t>(mipmap->levels.size(), TextureObject::kMaxLevels));
      for (uint32_t k = 0; k < object.level_count; ++k)
        object.levels[k] = level_of(*mipmap->levels[k]);
      return Status::Success;
    }
    case kLinear: {
      EXPECT_SUCCESS(check_format(resource.linear.format, element_bytes));
      describe(object, resource.linear.format);
      object.shape = Shape::Linear;
      const size_t texels = resource.linear.bytes / element_bytes;
      if (texels == 0 || texels > (size_t{1} << 31)) return Status::InvalidValue;
      object.levels[0] = {.data = reinterpret_cast<uint64_t>(resource.linear.pointer),
                          .pitch = texels * element_bytes,
                          .slice = texels * element_bytes,
                          .width = static_cast<uint32_t>(texels)};
      return Status::Success;
    }
    case kPitched: {
      const auto& pitched = resource.pitched;
      EXPECT_SUCCESS(check_format(pitched.format, element_bytes));
      describe(object, pitched.format);
      object.shape = Shape::D2;
      if (pitched.width == 0 || pitched.height == 0 ||
          pitched.pitch < pitched.width * element_bytes)
        return Status::InvalidValue;
      // The last row ends with its last texel.
      object.levels[0] = {
          .data = reinterpret_cast<uint64_t>(pitched.pointer),
          .pitch = pitched.pitch,
          .slice = pitched.pitch * (pitched.height - 1) + pitched.width * element_bytes,
          .width = static_cast<uint32_t>(pitched.width),
          .height = static_cast<uint32_t>(pitched.height)};
      return Status::Success;
    }
    default:
      return Status::InvalidValue;
  }
}

// The channels of cudaResourceViewFormat 1 ... 24: kinds and widths in order, each with one, two
// and four channels. Formats from 25 on are compressed blocks.
bool view_format(int number, abi::ChannelFormat& format) {
  constexpr struct {
    int bits, kind;
  } kKinds[] = {{8, abi::kUnsigned},  {8, abi::kSigned},  {16, abi::kUnsigned}, {16, abi::kSigned},
                {32, abi::kUnsigned}, {32, abi::kSigned}, {16, abi::kFloat},    {32, abi::kFloat}};
  if (number < 1 || number > 24) return false;
  const auto [bits, kind] = kKinds[(number - 1) / 3];
  const int channels = 1 << (number - 1) % 3;
  format = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
  return true;
}

// A view narrows the levels and layers, and may read the texels in another format of their size.
Status narrow(TextureObject& object, const abi::ResourceView& view) {
  if (view.format != 0) {
    const uint32_t bytes = object.texel_bytes();
    abi::ChannelFormat format;
    if (!view_format(view.format, format)) return Status::NotSupported;
    describe(object, format);
    if (object.texel_bytes() != bytes) return Status::InvalidValue;
  }
  if (view.first_level > view.last_level || view.last_level >= object.level_count)
    return Status::InvalidValue;
  object.level_count = view.last_level - view.first_level + 1;
  for (uint32_t k = 0; k < object.level_count; ++k)
    object.levels[k] = object.levels[view.first_level + k];
  if (!object.layered || view.last_layer == 0) return Status::Success;
  for (uint32_t k = 0; k < object.level_count; ++k) {
    TextureObject::Level& level = object.levels[k];
    if (view.first_layer > view.last_layer || view.last_layer >= level.depth)
      return Status::InvalidValue;
    level.data += view.first_layer * level.slice;
    level.depth = view.last_layer - view.first_layer + 1;
  }
  return Status::Success;
}

Status sample_as(TextureObject& object, const abi::TextureDescription& description) {
  for (int i = 0; i < 3; ++i) {
    if (description.address_mode[i] < 0 || description.address_mode[i] > 3)
      return Status::InvalidValue;
    object.address[i] = static_cast<TextureObject::Address>(description.address_mode[i]);
  }
  if (description.filter_mode < 0 || description.filter_mode > 1) return Status::InvalidValue;
  const bool integers = object.channel != TextureObject::Channel::Float;
  object.normalized_read = description.read_mode == 1 && integers;
  if (object.normalized_read && object.channel_bits == 32) return Status::InvalidNormSetting;
  object.linear_filter = description.filter_mode == 1;
  if (object.linear_filter && integers && !object.normalized_read)
    return Status::InvalidFilterSetting;
  object.linear_mipmaps = description.mipmap_filter_mode == 1;
  object.normalized_coordinates = description.normalized != 0;
  object.srgb = description.srgb != 0;
  object.seamless_cube = description.seamless_cubemap != 0;
  object.level_bias = description.mipmap_bias;
  object.least_level = description.min_mipmap;
  object.largest_level = description.max_mipmap;
  std::copy(description.border, description.border + 4, object.border);
  return Status::Success;
}

Status publish(uint64_t* handle, const TextureObject& object, const Request& request) {
  const uint64_t address = machine().memory().allocate(
      sizeof object, emulator::Allocation::Kind::Device, std::string(TextureObject::kLabel));
  if (address == 0) return Status::MemoryAllocation;
  *reinterpret_cast<TextureObject*>(address) = object;
  const std::lock_guard lock(requests().mutex);
  requests().by_handle[address] = request;
  *handle = address;
  return Status::Success;
}

}  // namespace

Status create_texture(uint64_t* handle, const abi::ResourceDescription* resource,
                      const abi::TextureDescription* description, const abi::ResourceView* view) {
  if (handle == nullptr || resource == nullptr || description == nullptr)
    return Status::InvalidValue;
  note_unrepeatable("a texture");
  TextureObject object;
  EXPECT_SUCCESS(look_at(object, *resource));
  if (view != nullptr) {
    if (resource->type != kArray && resource->type != kMipmap) return Status::InvalidValue;
    EXPECT_SUCCESS(narrow(object, *view));
  }
  EXPECT_SUCCESS(sample_as(object, *description));
  return publish(handle, object,
                 {*resource, *description, view != nullptr ? *view : abi::ResourceView{}});
}

Status create_surface(uint64_t* handle, const abi::ResourceDescription* resource) {
  if (handle == nullptr || resource == nullptr || resource->type != kArray)
    return Status::InvalidValue;
  TextureObject object;
  EXPECT_SUCCESS(look_at(object, *resource));
  object.surface = true;
  return publish(handle, object, {*resource, {}, {}});
}

Status destroy_texture(uint64_t handle) {
  if (handle == 0) return Status::Success;
  {
    const std::lock_guard lock(requests().mutex);
    if (requests().by_handle.erase(handle) == 0) return Status::InvalidValue;
  }
  // A kernel that still holds the handle is told so: the memory may come back for something else.
  reinterpret_cast<TextureObject*>(handle)->magic = 0;
  (void)machine().memory().free(handle);
  return Status::Success;
}

Status get_texture_resource(abi::ResourceDescription* resource, uint64_t handle) {
  const auto found = find_request(handle);
  if (!found || resource == nullptr) return Status::InvalidValue;
  *resource = found->resource;
  return Status::Success;
}

Status get_texture_description(abi::TextureDescription* description, uint64_t handle) {
  const auto found = find_request(handle);
  if (!found || description == nullptr) return Status::InvalidValue;
  *description = found->description;
  return Status::Success;
}

Status get_texture_view(abi::ResourceView* view, uint64_t handle) {
  const auto found = find_request(handle);
  if (!found || view == nullptr) return Status::InvalidValue;
  *view = found->view;
  return Status::Success;
}

}  // namespace weft::cudart
