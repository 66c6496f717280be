// SPDX-License-Identifier: Apache-2.0

// What names mean inside a function: a stack of scopes, the innermost meaning first. A register
// range
// (`%r<1000>`) takes one entry however long it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft::ptx {

class Names {
 public:
  enum class Kind : uint8_t { Register, Variable, Parameter, ReturnParameter, Label, Table };
  struct Meaning {
    Kind kind = Kind::Register;
    uint32_t index = 0;
  };

  void open_scope();
  void close_scope();
  std::size_t depth() const { return scopes_.size(); }
  void clear();

  // False when the innermost scope already gives the name a meaning.
  bool declare(std::string_view name, Meaning meaning);
  // Registers prefix0 ... prefix(count-1) with indices first ...
  bool declare_range(std::string_view prefix, uint32_t first, uint32_t count);

  std::optional<Meaning> find(std::string_view name) const;

 private:
  struct Entry {
    Meaning meaning;
    uint32_t count = 0;      // of a range; 0 for a single name
    uint32_t depth = 0;      // the scope that declared it
    uint32_t outer = kNone;  // the entry that it hides
    std::string_view name;
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  using Table = std::unordered_map<std::string_view, uint32_t>;

  bool add(Table& table, std::string_view name, Entry entry);

  Table names_, ranges_;             // to the innermost entry
  std::vector<Entry> entries_;       // in order of declaration
  std::vector<std::size_t> scopes_;  // entries_.size() at the opening of each
};

}  // namespace weft::ptx
