// SPDX-License-Identifier: Apache-2.0

// Texture and surface objects. A handle is the device address of the description that kernels
// read (emulator/texture_object.h); what the program asked for is kept here for its queries.
#pragma once

#include <cstdint>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

Status create_texture(uint64_t* handle, const abi::ResourceDescription* resource,
                      const abi::TextureDescription* texture, const abi::ResourceView* view);
Status create_surface(uint64_t* handle, const abi::ResourceDescription* resource);
Status destroy_texture(uint64_t handle);  // surfaces too; 0 is allowed
Status get_texture_resource(abi::ResourceDescription* resource, uint64_t handle);
Status get_texture_description(abi::TextureDescription* texture, uint64_t handle);
Status get_texture_view(abi::ResourceView* view, uint64_t handle);

}  // namespace weft::cudart
