// SPDX-License-Identifier: Apache-2.0

// Arrays live in device memory that the program never sees the address of.
#include "ptxbench/cudart/array.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/process.h"

namespace weft::cudart {
namespace {

struct Mipmap : Live<Mipmap> {
  std::vector<std::unique_ptr<Array>> levels;
};

struct Texture : Live<Texture> {
  emulator::TextureObject object;  // first: its address is the handle's value
  abi::ResourceDescription resource{};
  abi::TextureDescription description{};
  abi::ResourceView view{};
};

constexpr unsigned kLayered = 1, kCubemap = 4;

Status check_format(const abi::ChannelFormat& format, size_t& element_bytes) {
  const int bits[4] = {format.x, format.y, format.z, format.w};
  int channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  if (channels == 0 || channels == 3 || format.kind < 0 || format.kind > abi::kFloat)
    return Status::InvalidChannelDescriptor;
  for (int i = 0; i < channels; ++i)
    if (bits[i] != bits[0]) return Status::InvalidChannelDescriptor;
  for (int i = channels; i < 4; ++i)
    if (bits[i] != 0) return Status::InvalidChannelDescriptor;
  if (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) return Status::InvalidChannelDescriptor;
  if (format.kind == abi::kFloat && bits[0] == 8) return Status::InvalidChannelDescriptor;
  element_bytes = static_cast<size_t>(channels * bits[0] / 8);
  return Status::Success;
}

Status make_array(std::unique_ptr<Array>& array, const abi::ChannelFormat& format,
                  abi::Extent extent, unsigned flags) {
  array = std::make_unique<Array>();
  EXPECT_SUCCESS(check_format(format, array->element_bytes));
  if (extent.width == 0) return Status::InvalidValue;
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  if (extent.width > (size_t{1} << 31)) return Status::InvalidValue;
  array->pitch = (extent.width * array->element_bytes + 63) / 64 * 64;
  if (array->rows() > (size_t{1} << 31) || array->slices() > (size_t{1} << 31))
    return Status::InvalidValue;
  const uint64_t address =
      machine().memory().allocate(array->pitch * array->rows() * array->slices());
  if (address == 0) return Status::MemoryAllocation;
  array->data = reinterpret_cast<std::byte*>(address);
  return Status::Success;
}

void describe(emulator::TextureObject& object, const abi::ChannelFormat& format) {
  object.channel_bits = static_cast<uint8_t>(format.x);
  object.channels = format.w ? 4 : format.y ? 2 : 1;
  object.channel = static_cast<emulator::TextureObject::Channel>(format.kind);
}

Status look_at(emulator::TextureObject& object, const abi::ResourceDescription& resource) {
  using Shape = emulator::TextureObject::Shape;
  size_t element_bytes = 0;
  switch (resource.type) {
    case 0:
    case 1: {
      const Array* array = nullptr;
      if (resource.type == 0) {
        array = Array::find(resource.array.array);
      } else {
        const Mipmap* mipmap = Mipmap::find(resource.mipmap.mipmap);
        if (mipmap != nullptr) array = mipmap->levels.front().get();
      }
      if (array == nullptr) return Status::InvalidResourceHandle;
      describe(object, array->format);
      object.data = reinterpret_cast<uint64_t>(array->data);
      object.pitch = array->pitch;
      object.slice = array->pitch * array->rows();
      object.width = static_cast<uint32_t>(array->extent.width);
      object.height = static_cast<uint32_t>(array->extent.height);
      object.depth = static_cast<uint32_t>(array->extent.depth);
      object.layered = array->flags & kLayered;
      object.shape = (array->flags & kCubemap)                ? Shape::Cube
                     : array->extent.depth && !object.layered ? Shape::D3
                     : array->extent.height                   ? Shape::D2
                                                              : Shape::D1;
      return Status::Success;
    }
    case 2:
      EXPECT_SUCCESS(check_format(resource.linear.format, element_bytes));
      describe(object, resource.linear.format);
      object.data = reinterpret_cast<uint64_t>(resource.linear.pointer);
      object.shape = Shape::Linear;
      object.width = static_cast<uint32_t>(resource.linear.bytes / element_bytes);
      object.pitch = resource.linear.bytes;
      return Status::Success;
    case 3:
      EXPECT_SUCCESS(check_format(resource.pitched.format, element_bytes));
      describe(object, resource.pitched.format);
      object.data = reinterpret_cast<uint64_t>(resource.pitched.pointer);
      object.shape = Shape::D2;
      object.width = static_cast<uint32_t>(resource.pitched.width);
      object.height = static_cast<uint32_t>(resource.pitched.height);
      object.pitch = resource.pitched.pitch;
      return Status::Success;
    default:
      return Status::InvalidValue;
  }
}

Texture* find_texture(uint64_t object) {
  return Texture::find(reinterpret_cast<const void*>(object));
}

}  // namespace

Array::~Array() {
  if (owns && data != nullptr) (void)machine().memory().free(reinterpret_cast<uint64_t>(data));
}

Status create_array(abi::Array** array, const abi::ChannelFormat* format, abi::Extent extent,
                    unsigned flags) {
  if (array == nullptr || format == nullptr) return Status::InvalidValue;
  std::unique_ptr<Array> made;
  EXPECT_SUCCESS(make_array(made, *format, extent, flags));
  *array = reinterpret_cast<abi::Array*>(made.release());
  return Status::Success;
}

Status destroy_array(abi::Array* array) {
  if (array == nullptr) return Status::Success;
  Array* found = Array::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  delete found;
  return Status::Success;
}

Status get_array_info(abi::ChannelFormat* format, abi::Extent* extent, unsigned* flags,
                      abi::Array* array) {
  const Array* found = Array::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (format != nullptr) *format = found->format;
  if (extent != nullptr) *extent = found->extent;
  if (flags != nullptr) *flags = found->flags;
  return Status::Success;
}

Status get_element_bytes(abi::Array* array, size_t* bytes) {
  const Array* found = Array::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  *bytes = found->element_bytes;
  return Status::Success;
}

namespace {

// Calls `piece(array bytes, offset in the linear memory, length)` for each row touched.
template <typename Piece>
Status walk_rows(abi::Array* array, size_t x, size_t y, size_t size, Piece piece) {
  const Array* found = Array::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  const size_t row = found->extent.width * found->element_bytes;
  if (x >= row || y >= found->rows() || size > (found->rows() - y) * row - x)
    return Status::InvalidValue;
  for (size_t done = 0; done < size; x = 0, ++y) {
    const size_t length = std::min(row - x, size - done);
    piece(found->data + y * found->pitch + x, done, length);
    done += length;
  }
  return Status::Success;
}

}  // namespace

Status copy_linear_to_array(abi::Array* target, size_t x, size_t y, const void* source, size_t size,
                            int kind) {
  if (kind != abi::kHostToDevice && !is_device_range(source, size) && kind != abi::kDefaultKind)
    return Status::InvalidValue;
  return walk_rows(target, x, y, size, [&](std::byte* row, size_t done, size_t length) {
    std::memcpy(row, static_cast<const std::byte*>(source) + done, length);
  });
}

Status copy_linear_from_array(void* target, abi::Array* source, size_t x, size_t y, size_t size,
                              int kind) {
  if (kind != abi::kDeviceToHost && !is_device_range(target, size) && kind != abi::kDefaultKind)
    return Status::InvalidValue;
  return walk_rows(source, x, y, size, [&](std::byte* row, size_t done, size_t length) {
    std::memcpy(static_cast<std::byte*>(target) + done, row, length);
  });
}

Status create_mipmapped_array(abi::MipmappedArray** array, const abi::ChannelFormat* format,
                              abi::Extent extent, unsigned levels, unsigned flags) {
  if (array == nullptr || format == nullptr || levels == 0) return Status::InvalidValue;
  auto mipmap = std::make_unique<Mipmap>();
  const auto half = [](size_t size) { return size == 0 ? 0 : std::max<size_t>(size / 2, 1); };
  for (unsigned level = 0; level < levels; ++level) {
    std::unique_ptr<Array> made;
    EXPECT_SUCCESS(make_array(made, *format, extent, flags));
    mipmap->levels.push_back(std::move(made));
    extent.width = half(extent.width);
    extent.height = half(extent.height);
    if (!(flags & kLayered)) extent.depth = half(extent.depth);
  }
  *array = reinterpret_cast<abi::MipmappedArray*>(mipmap.release());
  return Status::Success;
}

Status destroy_mipmapped_array(abi::MipmappedArray* array) {
  if (array == nullptr) return Status::Success;
  Mipmap* found = Mipmap::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  delete found;
  return Status::Success;
}

Status get_mipmap_level(abi::Array** level, abi::MipmappedArray* array, unsigned number) {
  const Mipmap* found = Mipmap::find(array);
  if (found == nullptr) return Status::InvalidResourceHandle;
  if (level == nullptr || number >= found->levels.size()) return Status::InvalidValue;
  *level = reinterpret_cast<abi::Array*>(found->levels[number].get());
  return Status::Success;
}

namespace {
// CUarray_format: its number, bits a channel, kind.
struct DriverFormat {
  int number, bits, kind;
};
constexpr DriverFormat kDriverFormats[] = {
    {0x01, 8, abi::kUnsigned}, {0x02, 16, abi::kUnsigned}, {0x03, 32, abi::kUnsigned},
    {0x08, 8, abi::kSigned},   {0x09, 16, abi::kSigned},   {0x0a, 32, abi::kSigned},
    {0x10, 16, abi::kFloat},   {0x20, 32, abi::kFloat},
};
}  // namespace

bool to_channel_format(int driver_format, unsigned channels, abi::ChannelFormat& format) {
  if (channels != 1 && channels != 2 && channels != 4) return false;
  for (const DriverFormat& known : kDriverFormats) {
    if (known.number != driver_format) continue;
    const int bits = known.bits;
    format = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0,
              known.kind};
    return true;
  }
  return false;
}

bool to_driver_format(const abi::ChannelFormat& format, int& driver_format, unsigned& channels) {
  channels = format.w ? 4 : format.y ? 2 : 1;
  for (const DriverFormat& known : kDriverFormats) {
    if (known.bits != format.x || known.kind != format.kind) continue;
    driver_format = known.number;
    return true;
  }
  return false;
}

Status create_texture(uint64_t* object, const abi::ResourceDescription* resource,
                      const abi::TextureDescription* description, const abi::ResourceView* view) {
  if (object == nullptr || resource == nullptr || description == nullptr)
    return Status::InvalidValue;
  auto made = std::make_unique<Texture>();
  EXPECT_SUCCESS(look_at(made->object, *resource));
  for (int i = 0; i < 3; ++i) {
    if (description->address_mode[i] < 0 || description->address_mode[i] > 3)
      return Status::InvalidValue;
    made->object.address[i] =
        static_cast<emulator::TextureObject::Address>(description->address_mode[i]);
  }
  std::copy(description->border, description->border + 4, made->object.border);
  made->object.linear_filter = description->filter_mode == 1;
  made->object.normalized_coordinates = description->normalized != 0;
  made->object.normalized_read = description->read_mode == 1;
  made->object.srgb = description->srgb != 0;
  made->resource = *resource;
  made->description = *description;
  if (view != nullptr) made->view = *view;
  *object = reinterpret_cast<uint64_t>(made.release());
  return Status::Success;
}

Status create_surface(uint64_t* object, const abi::ResourceDescription* resource) {
  if (object == nullptr || resource == nullptr || resource->type != 0) return Status::InvalidValue;
  auto made = std::make_unique<Texture>();
  EXPECT_SUCCESS(look_at(made->object, *resource));
  made->object.surface = true;
  made->resource = *resource;
  *object = reinterpret_cast<uint64_t>(made.release());
  return Status::Success;
}

Status destroy_texture(uint64_t object) {
  Texture* found = find_texture(object);
  if (found == nullptr) return object == 0 ? Status::Success : Status::InvalidValue;
  delete found;
  return Status::Success;
}

Status get_texture_resource(abi::ResourceDescription* resource, uint64_t object) {
  const Texture* found = find_texture(object);
  if (found == nullptr || resource == nullptr) return Status::InvalidValue;
  *resource = found->resource;
  return Status::Success;
}

Status get_texture_description(abi::TextureDescription* description, uint64_t object) {
  const Texture* found = find_texture(object);
  if (found == nullptr || description == nullptr) return Status::InvalidValue;
  *description = found->description;
  return Status::Success;
}

Status get_texture_view(abi::ResourceView* view, uint64_t object) {
  const Texture* found = find_texture(object);
  if (found == nullptr || view == nullptr) return Status::InvalidValue;
  *view = found->view;
  return Status::Success;
}

}  // namespace weft::cudart
