// SPDX-License-Identifier: Apache-2.0

// The configuration with which the other steps run on a world's folder: a world knows its columns
// and when the labels of its longest window are all there.
#pragma once

#include <string>

#include "lattice/world/model.h"

namespace weft::lattice {

std::string steps_configuration(const WorldModel& model);

}  // namespace weft::lattice
