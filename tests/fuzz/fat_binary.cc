// SPDX-License-Identifier: Apache-2.0

// Any bytes are a readable fat binary or are refused with a message; every PTX entry unpacks or is
// refused; choosing and linking end in an answer. Seeds: a container of each packing.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/invariant.h"
#include "ptxbench/fatbin/fat_binary.h"
#include "ptxbench/fatbin/link.h"

using namespace weft::fatbin;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const auto entries = read_fat_binary({reinterpret_cast<const std::byte*>(data), size});
  if (!entries.ok()) {
    INVARIANT(!entries.error().message().empty());
    return 0;
  }
  std::vector<std::string> texts;
  for (const FatEntry& entry : *entries) {
    if (entry.kind != FatEntry::Kind::Ptx || entry.unpacked_size > (1 << 20)) continue;
    auto text = read_ptx(entry);
    if (text.ok()) texts.push_back(std::move(*text));
  }
  (void)choose_ptx(*entries, 9, 0).ok();
  (void)link_ptx(texts).ok();
  return 0;
}
