// SPDX-License-Identifier: Apache-2.0

// Closing a scope walks back over its entries, so the cost of scopes is that of their declarations.
#include "ptxbench/ptx/names.h"

namespace weft::ptx {

void Names::open_scope() {
  scopes_.push_back(entries_.size());
}

void Names::close_scope() {
  const std::size_t first = scopes_.back();
  scopes_.pop_back();
  while (entries_.size() > first) {
    const Entry& entry = entries_.back();
    Table& table = entry.count != 0 ? ranges_ : names_;
    if (entry.outer == kNone) {
      table.erase(entry.name);
    } else {
      table[entry.name] = entry.outer;
    }
    entries_.pop_back();
  }
}

void Names::clear() {
  names_.clear();
  ranges_.clear();
  entries_.clear();
  scopes_.clear();
}

bool Names::add(Table& table, std::string_view name, Entry entry) {
  entry.depth = static_cast<uint32_t>(scopes_.size());
  entry.name = name;
  const auto [slot, fresh] = table.try_emplace(name, static_cast<uint32_t>(entries_.size()));
  if (!fresh) {
    if (entries_[slot->second].depth == entry.depth) return false;
    entry.outer = slot->second;
    slot->second = static_cast<uint32_t>(entries_.size());
  }
  entries_.push_back(entry);
  return true;
}

bool Names::declare(std::string_view name, Meaning meaning) {
  return add(names_, name, Entry{.meaning = meaning, .name = name});
}

bool Names::declare_range(std::string_view prefix, uint32_t first, uint32_t count) {
  return add(ranges_, prefix,
             Entry{.meaning = {Kind::Register, first}, .count = count, .name = prefix});
}

std::optional<Names::Meaning> Names::find(std::string_view name) const {
  const Entry* best = nullptr;
  Meaning meaning;
  if (const auto found = names_.find(name); found != names_.end()) {
    best = &entries_[found->second];
    meaning = best->meaning;
  }
  // `%r12` belongs to the range %r or, less likely, to %r1. A number has no leading zero.
  std::size_t split = name.size();
  while (split > 0 && name[split - 1] >= '0' && name[split - 1] <= '9') --split;
  if (name.size() - split > 10) split = name.size() - 10;
  for (; split < name.size(); ++split) {
    if (split == 0 || (name[split] == '0' && split + 1 != name.size())) continue;
    const auto found = ranges_.find(name.substr(0, split));
    if (found == ranges_.end()) continue;
    uint64_t number = 0;
    for (const char c : name.substr(split)) number = number * 10 + static_cast<uint64_t>(c - '0');
    uint32_t at = found->second;
    while (at != kNone && number >= entries_[at].count) at = entries_[at].outer;
    if (at == kNone) continue;
    const Entry& entry = entries_[at];
    if (best == nullptr || entry.depth > best->depth) {
      meaning = {Kind::Register, entry.meaning.index + static_cast<uint32_t>(number)};
      best = &entry;
    }
    break;
  }
  if (best == nullptr) return std::nullopt;
  return meaning;
}

}  // namespace weft::ptx
