// SPDX-License-Identifier: Apache-2.0

// The weights of a network by name, in the order in which its blocks asked for them. A block asks
// for its weights in a scope ("layer0.attention") when it is made and keeps the tensors; the
// optimiser, the checkpoint and the count read them here.
//
// Everything drawn comes from one generator, so a seed and a list of blocks give the same weights.
#pragma once

#include "lattice/blocks/tensors.h"

namespace weft::lattice {

class Parameters {
 public:
  struct Named {
    std::string name;
    at::Tensor value;  // a leaf that requires a gradient
  };

  // Float64 is for checks of derivatives.
  explicit Parameters(uint64_t seed, at::ScalarType type = at::kFloat);
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  const std::vector<Named>& all() const { return all_; }
  uint64_t count() const;  // of numbers

  // Normal with this deviation, the same in each slice [i, ...] when `copies`: untied weights start
  // equal, so that they part only where their data differ.
  at::Tensor normal(const std::string& name, at::IntArrayRef shape, double deviation,
                    bool copies = false);
  at::Tensor constant(const std::string& name, at::IntArrayRef shape, double value);

 private:
  at::Tensor add(const std::string& name, at::Tensor value);

  std::vector<Named> all_;
  at::Generator generator_;
  at::ScalarType type_;
};

// Where a block puts its weights.
class Scope {
 public:
  Scope(Parameters& parameters, std::string prefix)
      : parameters_(&parameters), prefix_(std::move(prefix)) {}
  Scope in(const std::string& name) const { return {*parameters_, full(name)}; }

  // A matrix [in, out] for x W, scaled so that a product keeps the size of its input.
  at::Tensor matrix(const std::string& name, int64_t in, int64_t out, double gain = 1) const {
    return parameters_->normal(full(name), {in, out}, gain / std::sqrt(static_cast<double>(in)));
  }
  // [groups, in, out], equal at the start.
  at::Tensor matrices(const std::string& name, int64_t groups, int64_t in, int64_t out,
                      double gain = 1) const {
    return parameters_->normal(full(name), {groups, in, out},
                               gain / std::sqrt(static_cast<double>(in)), true);
  }
  at::Tensor normal(const std::string& name, at::IntArrayRef shape, double deviation) const {
    return parameters_->normal(full(name), shape, deviation);
  }
  at::Tensor constant(const std::string& name, at::IntArrayRef shape, double value) const {
    return parameters_->constant(full(name), shape, value);
  }

 private:
  std::string full(const std::string& name) const {
    return prefix_.empty() ? name : prefix_ + "." + name;
  }

  Parameters* parameters_;
  std::string prefix_;
};

}  // namespace weft::lattice
