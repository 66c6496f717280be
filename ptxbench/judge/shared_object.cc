// SPDX-License-Identifier: Apache-2.0

// Section headers give the dynamic string and symbol tables; a stripped section table is refused,
// since no compiler leaves it out and it would hide the names.
#include "ptxbench/judge/shared_object.h"

#include <elf.h>

#include <cstring>

namespace weft::judge {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  Result<T> at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return truncated();
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  Result<std::string> text(const Elf64_Shdr& table, uint64_t offset) const {
    if (table.sh_offset > bytes_.size() || table.sh_size > bytes_.size() - table.sh_offset ||
        offset >= table.sh_size)
      return truncated();
    const std::string_view area = bytes_.substr(table.sh_offset, table.sh_size);
    return std::string(area.substr(offset, area.find('\0', offset) - offset));
  }
  static Error truncated() {
    return Error("built object is not a whole ELF file",
                 "the build was cut short or tampered with");
  }

 private:
  std::string_view bytes_;
};

}  // namespace

Result<SharedObject> read_shared_object(std::string_view bytes) {
  const Reader reader(bytes);
  const auto header = TRY(reader.at<Elf64_Ehdr>(0));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return Reader::truncated();
  std::vector<Elf64_Shdr> sections;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    sections.push_back(TRY(reader.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr))));
  }
  SharedObject object;
  bool found = false;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNAMIC && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size()) return Reader::truncated();
    found = true;
    const Elf64_Shdr& names = sections[section.sh_link];
    if (section.sh_type == SHT_DYNAMIC) {
      for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
        const auto entry = TRY(reader.at<Elf64_Dyn>(section.sh_offset + at));
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_NEEDED)
          object.needed.push_back(TRY(reader.text(names, entry.d_un.d_val)));
      }
    } else {
      for (uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= section.sh_size;
           at += sizeof(Elf64_Sym)) {
        const auto symbol = TRY(reader.at<Elf64_Sym>(section.sh_offset + at));
        std::string name = TRY(reader.text(names, symbol.st_name));
        (symbol.st_shndx == SHN_UNDEF ? object.imports : object.exports).push_back(std::move(name));
      }
    }
  }
  if (!found) return Error("built object has no dynamic symbols", "build a shared library");
  return object;
}

}  // namespace weft::judge
