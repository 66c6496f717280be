// SPDX-License-Identifier: Apache-2.0

// The teacher store of one machine: RocksDB in a folder. Each time bucket is a column family, so
// that what is too old goes whole, without a compaction, and a look-up asks the bucket of its event
// first and then those before it, back to the lifetime.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "lattice/distillation/open_store.h"

namespace weft::lattice {

// Makes the store, or opens the one that is there when it belongs to the same teacher and has the
// same limits but for `most_bytes`.
Result<std::unique_ptr<TeacherStore>> open_rocks_store(const std::string& folder,
                                                       const TeacherDescription& description,
                                                       const StoreLimits& limits = {});

// The one that is there, whoever's it is.
Result<std::unique_ptr<TeacherStore>> open_rocks_store(const std::string& folder, Access access);

}  // namespace weft::lattice
