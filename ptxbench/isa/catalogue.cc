// SPDX-License-Identifier: Apache-2.0

// Chapters, look-up by opcode, and the matching of modifiers against rows.
//
// Assemblers accept modifiers of different groups in any order, and programs use that freedom
// (`vote.ballot.sync`, `ldmatrix.sync.aligned.x4.m8n8`). Groups that could be confused with one
// another (two types, two spaces) must keep the row's order.
#include "ptxbench/isa/catalogue.h"

#include <array>
#include <unordered_map>

#include "base/invariant.h"

namespace weft::isa {
namespace {

const std::unordered_map<std::string_view, std::vector<const Form*>>& index() {
  static const auto* table = [] {
    auto* map = new std::unordered_map<std::string_view, std::vector<const Form*>>;
    for (const Chapter& chapter : chapters()) {
      for (const Form& form : chapter.forms) (*map)[form.opcode].push_back(&form);
    }
    return map;
  }();
  return *table;
}

// Assigns words to groups, depth first. Words are few and groups that share words fewer, so the
// search is short; `steps` bounds it whatever the input.
class Assignment {
 public:
  Assignment(const Form& form, std::span<const std::string_view> words)
      : form_(form), words_(words) {}

  bool complete() {
    if (words_.size() > form_.group_count) return false;
    return place(0);
  }

 private:
  bool place(std::size_t at) {
    if (at == words_.size()) return required_filled();
    if (++steps_ > kMaxSteps) return false;
    for (std::size_t g = 0; g < form_.group_count; ++g) {
      const Form::Group& group = form_.groups[g];
      if (filled_[g] || passed(g) || !form_.accepts(group, words_[at])) continue;
      filled_[g] = true;
      if (place(at + 1)) return true;
      filled_[g] = false;
    }
    return false;
  }

  // Whether a later group of the same order is already filled.
  bool passed(std::size_t g) const {
    if (form_.groups[g].order == 0) return false;
    for (std::size_t later = g + 1; later < form_.group_count; ++later) {
      if (filled_[later] && form_.groups[later].order == form_.groups[g].order) return true;
    }
    return false;
  }

  bool required_filled() const {
    for (std::size_t g = 0; g < form_.group_count; ++g) {
      if (!filled_[g] && !form_.groups[g].optional) return false;
    }
    return true;
  }

  static constexpr int kMaxSteps = 2000;
  const Form& form_;
  std::span<const std::string_view> words_;
  std::array<bool, Form::kMaxGroups> filled_{};
  int steps_ = 0;
};

// How far a row is from a list of modifiers that does not fit it.
struct Distance {
  std::vector<int> unplaced;         // indices of words
  std::vector<std::size_t> missing;  // required groups
  std::size_t total() const { return 2 * unplaced.size() + missing.size(); }
};

Distance distance(const Form& form, std::span<const std::string_view> words) {
  Distance result;
  std::array<bool, Form::kMaxGroups> filled{};
  for (std::size_t w = 0; w < words.size(); ++w) {
    std::size_t g = 0;
    while (g < form.group_count && (filled[g] || !form.accepts(form.groups[g], words[w]))) ++g;
    if (g == form.group_count) {
      result.unplaced.push_back(static_cast<int>(w));
    } else {
      filled[g] = true;
    }
  }
  for (std::size_t g = 0; g < form.group_count; ++g) {
    if (!filled[g] && !form.groups[g].optional) result.missing.push_back(g);
  }
  return result;
}

void append_words(std::string& out, std::string_view set, std::string_view types) {
  constexpr std::size_t kEnough = 160;
  for (std::string_view word = take_word(set); !word.empty(); word = take_word(set)) {
    if (word.front() == '<') {
      append_words(out, named_set(word, types), types);
    } else if (out.size() < kEnough) {
      if (!out.empty()) out += ' ';
      out += '.';
      out += word;
    } else if (!out.ends_with(" ...")) {
      out += " ...";
    }
  }
}

std::string row_hint(const Form& form) {
  std::string hint = "the nearest form is " + std::string(form.syntax);
  if (!form.types.empty()) hint += ", type one of " + std::string(form.types);
  return hint;
}

}  // namespace

void malformed_row(const char* reason) {
  invariant_failed(reason, __FILE__, __LINE__);
}

std::span<const Chapter> chapters() {
  static const Chapter kChapters[] = {
      {"integer_arithmetic", integer_arithmetic()},
      {"extended_integer", extended_integer()},
      {"float_arithmetic", float_arithmetic()},
      {"half_arithmetic", half_arithmetic()},
      {"comparison", comparison()},
      {"logic_shift", logic_shift()},
      {"conversion", conversion()},
      {"data_movement", data_movement()},
      {"async_copy", async_copy()},
      {"tensor_copy", tensor_copy()},
      {"control_flow", control_flow()},
      {"atomics", atomics()},
      {"warp_exchange", warp_exchange()},
      {"barriers", barriers()},
      {"mbarrier", mbarrier()},
      {"matrix", matrix()},
      {"warpgroup_matrix", warpgroup_matrix()},
      {"tensor_memory", tensor_memory()},
      {"texture", texture()},
      {"stack", stack()},
      {"video", video()},
      {"hints", hints()},
  };
  return kChapters;
}

std::span<const Form* const> forms_of(std::string_view opcode) {
  const auto found = index().find(opcode);
  if (found == index().end()) return {};
  return found->second;
}

std::vector<const Form*> match_modifiers(std::string_view opcode,
                                         std::span<const std::string_view> modifiers) {
  std::vector<const Form*> matches;
  for (const Form* form : forms_of(opcode)) {
    if (Assignment(*form, modifiers).complete()) matches.push_back(form);
  }
  return matches;
}

Mismatch explain_mismatch(std::string_view opcode, std::span<const std::string_view> modifiers) {
  const auto forms = forms_of(opcode);
  if (forms.empty()) {
    return {"unknown instruction: " + std::string(opcode), "no opcode of PTX has this name", -1};
  }
  for (std::size_t w = 0; w < modifiers.size(); ++w) {
    bool known = false;
    for (const Form* form : forms) {
      for (std::size_t g = 0; g < form->group_count && !known; ++g) {
        known = form->accepts(form->groups[g], modifiers[w]);
      }
    }
    if (!known) {
      std::vector<std::string_view> others(modifiers.begin(), modifiers.end());
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(w));
      Mismatch rest = explain_mismatch(opcode, others);
      return {"unknown modifier of " + std::string(opcode) + ": ." + std::string(modifiers[w]),
              rest.hint, static_cast<int>(w)};
    }
  }
  const Form* nearest = forms.front();
  Distance least = distance(*nearest, modifiers);
  for (const Form* form : forms) {
    Distance here = distance(*form, modifiers);
    if (here.total() < least.total()) nearest = form, least = std::move(here);
  }
  if (!least.unplaced.empty()) {
    const int word = least.unplaced.front();
    return {"modifier does not fit the other modifiers of " + std::string(opcode) + ": ." +
                std::string(modifiers[static_cast<std::size_t>(word)]),
            row_hint(*nearest), word};
  }
  if (!least.missing.empty()) {
    const Form::Group& group = nearest->groups[least.missing.front()];
    std::string words;
    append_words(words, nearest->words(group), nearest->types);
    return {"missing modifier of " + std::string(opcode) + ": " + words, row_hint(*nearest), -1};
  }
  return {"modifiers of " + std::string(opcode) + " stand in the wrong order", row_hint(*nearest),
          -1};
}

std::string_view name(InstructionFamily family) {
  static constexpr std::string_view kNames[] = {"integer",
                                                "float",
                                                "half",
                                                "comparison",
                                                "logic",
                                                "conversion",
                                                "move",
                                                "load_store",
                                                "prefetch",
                                                "control",
                                                "atomic",
                                                "warp_exchange",
                                                "barrier",
                                                "cluster_barrier",
                                                "fence",
                                                "mbarrier",
                                                "async_copy",
                                                "bulk_copy",
                                                "tensor_copy",
                                                "tensor_map",
                                                "ldmatrix",
                                                "mma",
                                                "wmma",
                                                "wgmma",
                                                "register_count",
                                                "tcgen05",
                                                "texture",
                                                "surface",
                                                "stack",
                                                "video",
                                                "cluster",
                                                "dependent_launch",
                                                "hint"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(InstructionFamily::Hint) + 1);
  return kNames[static_cast<std::size_t>(family)];
}

}  // namespace weft::isa
