// SPDX-License-Identifier: Apache-2.0

// Handles that programs hold are addresses of our objects. A program may pass one that was
// destroyed or never made, so an address is looked up among the living objects before it is used.
#pragma once

#include <mutex>
#include <unordered_set>

namespace weft::cudart {

// Base of every object that has a handle: class Stream : Live<Stream>.
template <typename T>
class Live {
 public:
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // The object behind a handle; nullptr when there is none (any more).
  static T* find(const void* handle) {
    Set& set = living();
    const std::lock_guard lock(set.mutex);
    return set.objects.contains(handle) ? static_cast<T*>(const_cast<void*>(handle)) : nullptr;
  }

 protected:
  Live() {
    Set& set = living();
    const std::lock_guard lock(set.mutex);
    set.objects.insert(this);
  }
  ~Live() {
    Set& set = living();
    const std::lock_guard lock(set.mutex);
    set.objects.erase(this);
  }

 private:
  struct Set {
    std::mutex mutex;
    std::unordered_set<const void*> objects;
  };
  // Never destroyed: programs call the API from destructors of their own statics.
  static Set& living() {
    static Set& set = *new Set;
    return set;
  }
};

}  // namespace weft::cudart
