// SPDX-License-Identifier: Apache-2.0

// LibTorch as the rooms of lattice see it: tensors, derivatives and a place for functions with a
// derivative of our own. torch::nn is left out on purpose: its headers take four times as long to
// compile, and Parameters (parameters.h) does what is used of it.
//
// This header is compiled once, before all others, by the build.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>
