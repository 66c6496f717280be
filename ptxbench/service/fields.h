// SPDX-License-Identifier: Apache-2.0

// Reads the members of a request's JSON and collects all that is wrong with them, so that a client
// learns everything at once and in the form that clients of the contract know: where, what, kind.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace weft::service {

using Place = std::vector<std::string>;  // {"body", "solution", "name"}

struct Issue {
  Place place;
  std::string message;
  std::string type;  // "missing", "string_type", ...
};

class Issues {
 public:
  void add(Place place, std::string message, std::string type) {
    all_.push_back({std::move(place), std::move(message), std::move(type)});
  }
  bool none() const { return all_.empty(); }
  const std::vector<Issue>& all() const { return all_; }
  Json to_json() const;  // [{"loc", "msg", "type"}, ...]

 private:
  std::vector<Issue> all_;
};

// One object of the request. A member that is null counts as absent.
class Fields {
 public:
  // `json` that is no object is an issue.
  Fields(const Json& json, Place place, Issues& issues);

  // Members with other names are issues.
  void only(std::initializer_list<std::string_view> names);
  bool has(std::string_view name) const;
  const Json* find(std::string_view name) const;
  Place place_of(std::string_view name) const;

  std::string text(std::string_view name);  // must be there, and not empty
  std::optional<std::string> optional_text(std::string_view name);
  std::optional<int64_t> optional_integer(std::string_view name, int64_t least, int64_t most);
  std::optional<double> optional_number(std::string_view name, double least, double most);
  std::optional<bool> optional_flag(std::string_view name);
  std::optional<std::vector<std::string>> optional_texts(std::string_view name);

  void wrong(std::string_view name, std::string message, std::string type) {
    issues_.add(place_of(name), std::move(message), std::move(type));
  }

 private:
  const Json* json_;  // nullptr when it is no object
  Place place_;
  Issues& issues_;
};

}  // namespace weft::service
