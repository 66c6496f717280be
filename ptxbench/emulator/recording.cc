// SPDX-License-Identifier: Apache-2.0

// Every operation has the same layout, little end first: its kind, the numbers in the order of
// `numbers`, then two texts with their lengths.
#include "ptxbench/emulator/recording.h"

#include <cstring>

namespace weft::emulator {
namespace {

constexpr size_t kNumbers = 23;

template <typename Operation>
auto numbers(Operation& o) {
  using Pointer = decltype(&o.target);
  return std::array<Pointer, kNumbers>{
      &o.target,       &o.source,       &o.bytes,        &o.rows,         &o.slices,
      &o.target_pitch, &o.target_slice, &o.source_pitch, &o.source_slice, &o.value,
      &o.element,      &o.module,       &o.grid[0],      &o.grid[1],      &o.grid[2],
      &o.block[0],     &o.block[1],     &o.block[2],     &o.cluster[0],   &o.cluster[1],
      &o.cluster[2],   &o.shared,       &o.cooperative};
}

void put(std::string& out, uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Reader {
  std::string_view rest;

  bool number(uint64_t& value) {
    if (rest.size() < sizeof value) return false;
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return true;
  }
  bool text(std::string& value) {
    uint64_t length = 0;
    if (!number(length) || length > rest.size()) return false;
    value = rest.substr(0, length);
    rest.remove_prefix(length);
    return true;
  }
  bool operation(RecordedOperation& to) {
    const auto kind = static_cast<uint8_t>(rest.front());
    if (kind > static_cast<uint8_t>(RecordedOperation::Kind::Unrepeatable)) return false;
    to.kind = static_cast<RecordedOperation::Kind>(kind);
    rest.remove_prefix(1);
    for (uint64_t* value : numbers(to))
      if (!number(*value)) return false;
    return text(to.text) && text(to.data);
  }
};

}  // namespace

std::string to_bytes(const RecordedOperation& operation) {
  std::string out(1, static_cast<char>(operation.kind));
  for (const uint64_t* value : numbers(operation)) put(out, *value);
  for (const std::string* text : {&operation.text, &operation.data}) {
    put(out, text->size());
    out += *text;
  }
  return out;
}

Result<std::vector<RecordedOperation>> read_recording(std::string_view bytes) {
  std::vector<RecordedOperation> operations;
  Reader reader{bytes};
  while (!reader.rest.empty()) {
    if (!reader.operation(operations.emplace_back()))
      return Error("the recording is damaged or was cut off");
  }
  return operations;
}

}  // namespace weft::emulator
