// SPDX-License-Identifier: Apache-2.0

#include "base/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/text_file.h"

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace weft {
namespace {

struct TypeSize {
  std::string_view type;
  uint64_t bytes;
};
constexpr TypeSize kTypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                               {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
                               {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8}};

// The format's own bound; a real header is far below it.
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr char kMetadata[] = "__metadata__";

// Bytes of a tensor; nothing when the number does not fit.
std::optional<uint64_t> byte_count(uint64_t element, const std::vector<uint64_t>& shape) {
  uint64_t bytes = element;
  for (uint64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  return bytes;
}

std::optional<std::vector<uint64_t>> numbers(const Json& entry, const char* key) {
  const auto list = entry.find(key);
  if (list == entry.end() || !list->is_array()) return std::nullopt;
  std::vector<uint64_t> values;
  for (const Json& number : *list) {
    if (!number.is_number_unsigned()) return std::nullopt;
    values.push_back(number.get<uint64_t>());
  }
  return values;
}

Result<TensorView> read_entry(const Json& entry, std::string_view data) {
  if (!entry.is_object()) return Error("is not an object");
  const auto type = entry.find("dtype");
  if (type == entry.end() || !type->is_string()) return Error("has no dtype");
  TensorView view{.type = type->get<std::string>()};
  const uint64_t element = safetensors_type_size(view.type);
  if (element == 0) return Error("has an unknown dtype: " + view.type);
  const auto shape = numbers(entry, "shape"), offsets = numbers(entry, "data_offsets");
  if (!shape) return Error("has no shape of whole numbers");
  if (!offsets || offsets->size() != 2) return Error("has no pair of data_offsets");
  view.shape = *shape;
  const uint64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (begin > end || end > data.size())
    return Error("has data_offsets outside the file: " + std::to_string(begin) + " to " +
                 std::to_string(end) + " of " + std::to_string(data.size()));
  if (byte_count(element, view.shape) != end - begin)
    return Error("has a shape that does not fill its data_offsets");
  view.bytes = data.substr(begin, end - begin);
  return view;
}

}  // namespace

uint64_t safetensors_type_size(std::string_view type) {
  for (const TypeSize& known : kTypes)
    if (known.type == type) return known.bytes;
  return 0;
}

Result<Safetensors> Safetensors::open(const std::string& path) {
  const auto failed = [&](std::string message) {
    return Error(Diagnostic{.message = std::move(message), .file = path});
  };
  Safetensors result(TRY(MappedFile::open(path)));
  const std::string_view bytes = result.file_.bytes();
  uint64_t length = 0;
  if (bytes.size() < sizeof length) return failed("too short for a safetensors file");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kLongestHeader || length > bytes.size() - sizeof length)
    return failed("safetensors header longer than the file: " + std::to_string(length));
  const Json header = TRY(parse_json(bytes.substr(sizeof length, length), path));
  if (!header.is_object()) return failed("safetensors header is not an object");
  const std::string_view data = bytes.substr(sizeof length + length);
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      for (const auto& [key, value] : entry.items())
        if (value.is_string()) result.metadata_[key] = value.get<std::string>();
      continue;
    }
    Result<TensorView> view = read_entry(entry, data);
    if (!view.ok()) return failed("safetensors entry " + name + " " + view.error().message());
    result.tensors_[name] = *std::move(view);
  }
  return result;
}

Result<TensorView> Safetensors::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  std::string names;
  for (const auto& [known, view] : tensors_) names += (names.empty() ? "" : ", ") + known;
  return Error("no tensor named " + name, "there are: " + names);
}

Result<Done> write_safetensors(const std::string& path,
                               const std::map<std::string, TensorView>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  for (const auto& [key, value] : metadata) header[kMetadata][key] = value;
  // Wide elements first: there are no gaps, so only then does every tensor lie at a multiple of its
  // element's size for those who map the file.
  std::vector<std::pair<std::string, TensorView>> order(tensors.begin(), tensors.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return safetensors_type_size(a.second.type) > safetensors_type_size(b.second.type);
  });
  std::string data;
  for (const auto& [name, view] : order) {
    const uint64_t element = safetensors_type_size(view.type);
    if (element == 0 || byte_count(element, view.shape) != view.bytes.size())
      return Error("tensor " + name + " has a type and shape that do not fit its bytes");
    header[name] = {{"dtype", view.type},
                    {"shape", view.shape},
                    {"data_offsets", {data.size(), data.size() + view.bytes.size()}}};
    data += view.bytes;
  }
  std::string text = to_line(header);
  // Spaces are allowed at the end, and keep the data aligned for whoever maps the file.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  file += text;
  file += data;
  return write_file(path, file);
}

}  // namespace weft
