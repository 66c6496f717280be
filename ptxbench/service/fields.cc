// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/fields.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft::service {
namespace {

template <typename Number>
std::optional<Number> within(Fields& fields, std::string_view name, Number value, Number least,
                             Number most) {
  if (value >= least && value <= most) return value;
  fields.wrong(name, fmt::format("Input should be from {} to {}", least, most), "out_of_range");
  return std::nullopt;
}

}  // namespace

Json Issues::to_json() const {
  Json list = Json::array();
  for (const Issue& issue : all_)
    list.push_back({{"loc", issue.place}, {"msg", issue.message}, {"type", issue.type}});
  return list;
}

Fields::Fields(const Json& json, Place place, Issues& issues)
    : json_(json.is_object() ? &json : nullptr), place_(std::move(place)), issues_(issues) {
  if (json_ == nullptr) issues_.add(place_, "Input should be an object", "object_type");
}

void Fields::only(std::initializer_list<std::string_view> names) {
  if (json_ == nullptr) return;
  for (const auto& [name, value] : json_->items()) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      wrong(name, fmt::format("unknown field; fields here: {}", fmt::join(names, ", ")),
            "extra_forbidden");
  }
}

const Json* Fields::find(std::string_view name) const {
  if (json_ == nullptr) return nullptr;
  const auto member = json_->find(std::string(name));
  return member == json_->end() || member->is_null() ? nullptr : &*member;
}

bool Fields::has(std::string_view name) const {
  return find(name) != nullptr;
}

Place Fields::place_of(std::string_view name) const {
  Place place = place_;
  place.emplace_back(name);
  return place;
}

std::string Fields::text(std::string_view name) {
  if (json_ == nullptr) return {};
  if (!has(name)) {
    wrong(name, "Field required", "missing");
    return {};
  }
  std::string value = optional_text(name).value_or("");
  if (value.empty() && find(name)->is_string())
    wrong(name, "String should have at least 1 character", "string_too_short");
  return value;
}

std::optional<std::string> Fields::optional_text(std::string_view name) {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  if (member->is_string()) return member->get<std::string>();
  wrong(name, "Input should be a valid string", "string_type");
  return std::nullopt;
}

std::optional<int64_t> Fields::optional_integer(std::string_view name, int64_t least,
                                                int64_t most) {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  // A number beyond int64 would wrap around; only one within the limits passes either way.
  if (!member->is_number_integer() ||
      (member->is_number_unsigned() && member->get<uint64_t>() > uint64_t{INT64_MAX})) {
    wrong(name, "Input should be a valid integer", "int_type");
    return std::nullopt;
  }
  return within(*this, name, member->get<int64_t>(), least, most);
}

std::optional<double> Fields::optional_number(std::string_view name, double least, double most) {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  if (!member->is_number()) {
    wrong(name, "Input should be a valid number", "float_type");
    return std::nullopt;
  }
  return within(*this, name, member->get<double>(), least, most);
}

std::optional<bool> Fields::optional_flag(std::string_view name) {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  if (member->is_boolean()) return member->get<bool>();
  wrong(name, "Input should be a valid boolean", "bool_type");
  return std::nullopt;
}

std::optional<std::vector<std::string>> Fields::optional_texts(std::string_view name) {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  bool right = member->is_array();
  if (right) {
    for (const Json& element : *member) {
      right = right && element.is_string();
      if (right) texts.push_back(element.get<std::string>());
    }
  }
  if (right) return texts;
  wrong(name, "Input should be a list of strings", "list_type");
  return std::nullopt;
}

}  // namespace weft::service
