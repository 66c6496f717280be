// SPDX-License-Identifier: Apache-2.0

// CUPTI hands buffers back on a thread of its own, so what they hold is gathered under a lock.
#include "ptxbench/judge/worker/activity_clock.h"

#ifdef WEFT_HAVE_CUPTI

#include <cupti.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/vendor_library.h"

namespace weft::judge {
namespace {

constexpr size_t kBufferBytes = 1 << 20, kBufferAlignment = 8;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

struct Cupti {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetResultString) text = nullptr;

  static Result<Cupti> open() {
    const VendorLibrary library = TRY(VendorLibrary::open({"libcupti.so.13", "libcupti.so"}));
    Cupti cupti;
    TRY(library.find("cuptiActivityRegisterCallbacks", cupti.register_callbacks));
    TRY(library.find("cuptiActivityEnable", cupti.enable));
    TRY(library.find("cuptiActivityDisable", cupti.disable));
    TRY(library.find("cuptiActivityFlushAll", cupti.flush));
    TRY(library.find("cuptiActivityGetNextRecord", cupti.next));
    TRY(library.find("cuptiActivityPushExternalCorrelationId", cupti.push));
    TRY(library.find("cuptiActivityPopExternalCorrelationId", cupti.pop));
    TRY(library.find("cuptiGetTimestamp", cupti.timestamp));
    TRY(library.find("cuptiGetResultString", cupti.text));
    return cupti;
  }
  Result<Done> check(CUptiResult code, const char* call) const {
    if (code == CUPTI_SUCCESS) return Done{};
    const char* said = nullptr;
    text(code, &said);
    return Error(fmt::format("{}: {}", call, said == nullptr ? "unknown error" : said));
  }
};

struct Record {
  DeviceActivity activity;
  uint32_t correlation = 0;
};

// Filled by CUPTI's thread.
struct Gathered {
  std::mutex lock;
  Cupti cupti;
  std::vector<Record> records;
  std::map<uint32_t, uint64_t> tags;  // by correlation id
};
Gathered gathered;

template <typename Activity>
void keep(const CUpti_Activity* record, bool kernel) {
  const auto* activity = reinterpret_cast<const Activity*>(record);
  gathered.records.push_back(
      {{activity->start, activity->end, 0, kernel, 0, ""}, activity->correlationId});
}

void keep(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      keep<CUpti_ActivityKernel10>(record, true);
      gathered.records.back().activity.name =
          reinterpret_cast<const CUpti_ActivityKernel10*>(record)->name;
      return;
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      keep<CUpti_ActivityMemcpy6>(record, false);
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      if (copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
        gathered.records.back().activity.to_host = copy->bytes;
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return keep<CUpti_ActivityMemset4>(record, false);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto* tag = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      gathered.tags[tag->correlationId] = tag->externalId;
      return;
    }
    default:
      return;
  }
}

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard<std::mutex> guard(gathered.lock);
  CUpti_Activity* record = nullptr;
  while (gathered.cupti.next(buffer, valid, &record) == CUPTI_SUCCESS) keep(record);
  std::free(buffer);
}

}  // namespace

struct ActivityClock::State {
  Cupti cupti;
};

ActivityClock::ActivityClock(std::unique_ptr<State> state) : state_(std::move(state)) {}

ActivityClock::~ActivityClock() {
  for (const CUpti_ActivityKind kind : kKinds) state_->cupti.disable(kind);
}

Result<std::unique_ptr<ActivityClock>> ActivityClock::start() {
  auto state = std::make_unique<State>();
  state->cupti = TRY(Cupti::open());
  const Cupti& cupti = state->cupti;
  gathered.cupti = cupti;
  TRY(cupti.check(cupti.register_callbacks(give_buffer, take_buffer),
                  "cuptiActivityRegisterCallbacks"));
  for (const CUpti_ActivityKind kind : kKinds)
    TRY(cupti.check(cupti.enable(kind), "cuptiActivityEnable"));
  return std::unique_ptr<ActivityClock>(new ActivityClock(std::move(state)));
}

void ActivityClock::tag(uint64_t tag) {
  state_->cupti.push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, tag);
}

void ActivityClock::untag() {
  uint64_t last = 0;
  state_->cupti.pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
}

uint64_t ActivityClock::now() const {
  uint64_t time = 0;
  state_->cupti.timestamp(&time);
  return time;
}

Result<std::vector<DeviceActivity>> ActivityClock::collect() {
  TRY(state_->cupti.check(state_->cupti.flush(0), "cuptiActivityFlushAll"));
  const std::lock_guard<std::mutex> guard(gathered.lock);
  std::vector<DeviceActivity> all;
  for (Record& record : gathered.records) {
    const auto tag = gathered.tags.find(record.correlation);
    if (tag != gathered.tags.end()) record.activity.tag = tag->second;
    all.push_back(record.activity);
  }
  gathered.records.clear();
  gathered.tags.clear();
  std::sort(all.begin(), all.end(),
            [](const DeviceActivity& a, const DeviceActivity& b) { return a.start < b.start; });
  return all;
}

#else

namespace weft::judge {

struct ActivityClock::State {};
ActivityClock::ActivityClock(std::unique_ptr<State> state) : state_(std::move(state)) {}
ActivityClock::~ActivityClock() = default;
Result<std::unique_ptr<ActivityClock>> ActivityClock::start() {
  return Error("built without CUPTI's headers", "install the CUDA toolkit and build again");
}
void ActivityClock::tag(uint64_t) {}
void ActivityClock::untag() {}
uint64_t ActivityClock::now() const {
  return 0;
}
Result<std::vector<DeviceActivity>> ActivityClock::collect() {
  return std::vector<DeviceActivity>{};
}

#endif

}  // namespace weft::judge
