// SPDX-License-Identifier: Apache-2.0

// A teacher's store by its address: a folder of RocksDB, or redis://host:port/database#name.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "lattice/distillation/teacher_store.h"

namespace weft::lattice {

enum class Access : uint8_t { ReadWrite, ReadOnly };  // read-only beside a writer

// Makes the store, or opens the one that is there when it belongs to the same teacher and has the
// same limits but for `most_bytes`.
Result<std::unique_ptr<TeacherStore>> open_store(const std::string& address,
                                                 const TeacherDescription& description,
                                                 const StoreLimits& limits);
// The one that is there, whoever's it is.
Result<std::unique_ptr<TeacherStore>> open_store(const std::string& address, Access access);

}  // namespace weft::lattice
