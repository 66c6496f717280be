// SPDX-License-Identifier: Apache-2.0

// Values are drawn in float64 and rounded, so that float32 and float64 networks of one seed agree.
#include "lattice/blocks/parameters.h"

#include "base/invariant.h"

namespace weft::lattice {

Parameters::Parameters(uint64_t seed, at::ScalarType type)
    : generator_(at::detail::createCPUGenerator(seed)), type_(type) {}

uint64_t Parameters::count() const {
  uint64_t sum = 0;
  for (const Named& named : all_) sum += static_cast<uint64_t>(named.value.numel());
  return sum;
}

at::Tensor Parameters::normal(const std::string& name, at::IntArrayRef shape, double deviation,
                              bool copies) {
  at::Tensor value;
  if (copies) {
    value = at::empty(shape.slice(1), at::kDouble).normal_(0, deviation, generator_);
    value = value.unsqueeze(0).expand(shape).contiguous();
  } else {
    value = at::empty(shape, at::kDouble).normal_(0, deviation, generator_);
  }
  return add(name, value);
}

at::Tensor Parameters::constant(const std::string& name, at::IntArrayRef shape, double value) {
  return add(name, at::full(shape, value, at::kDouble));
}

at::Tensor Parameters::add(const std::string& name, at::Tensor value) {
  for (const Named& named : all_) INVARIANT(named.name != name);
  all_.push_back({name, value.to(type_).set_requires_grad(true)});
  return all_.back().value;
}

}  // namespace weft::lattice
