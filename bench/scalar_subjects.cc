// SPDX-License-Identifier: Apache-2.0

#include "bench/scalar_subjects.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>

namespace weft::emulator {

namespace {

template <typename T>
T* device_array(Machine& machine, size_t count) {
  const uint64_t address = machine.memory().allocate(count * sizeof(T));
  std::memset(reinterpret_cast<void*>(address), 0, count * sizeof(T));
  return reinterpret_cast<T*>(address);
}

bool close(float a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

Subject softmax(Machine& machine) {
  constexpr int kRows = 512, kColumns = 4096, kCount = kRows * kColumns;
  float* x = device_array<float>(machine, kCount);
  float* y = device_array<float>(machine, kCount);
  for (int i = 0; i < kCount; ++i) x[i] = static_cast<float>((i * 37) % 101) / 25.0f;
  return {"softmax",
          {.x = kRows},
          {.x = 256},
          Parameters{}.add(x).add(y).add(int{kColumns}),
          [=] { std::memset(y, 0, kCount * sizeof(float)); },
          [=] {
            for (int r = 0; r < kRows; r += 61) {
              double sum = 0;
              for (int c = 0; c < kColumns; ++c) sum += std::exp(double{x[r * kColumns + c]});
              for (int c = 0; c < kColumns; c += 17)
                if (!close(y[r * kColumns + c], std::exp(double{x[r * kColumns + c]}) / sum, 1e-5))
                  return false;
            }
            return true;
          }};
}

Subject tiled_product(Machine& machine) {
  constexpr int n = 384;
  float* a = device_array<float>(machine, n * n);
  float* b = device_array<float>(machine, n * n);
  float* c = device_array<float>(machine, n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 13) - 6;
    b[i] = static_cast<float>(i % 7) - 3;
  }
  return {"tiled_product",
          {.x = n / 16, .y = n / 16},
          {.x = 16, .y = 16},
          Parameters{}.add(a).add(b).add(c).add(int{n}),
          [=] { std::memset(c, 0, n * n * sizeof(float)); },
          [=] {
            for (int i = 0; i < n * n; i += 977) {
              double sum = 0;
              for (int k = 0; k < n; ++k) sum += double{a[i / n * n + k]} * b[k * n + i % n];
              if (!close(c[i], sum, 1e-5)) return false;
            }
            return true;
          }};
}

Subject bodies(Machine& machine) {
  constexpr int n = 4096;
  float* p = device_array<float>(machine, n * 4);
  float* out = device_array<float>(machine, n * 4);
  for (int i = 0; i < n * 4; ++i) p[i] = static_cast<float>((i * 7919) % 1000) / 1000.0f;
  return {"bodies",
          {.x = n / 128},
          {.x = 128},
          Parameters{}.add(p).add(out).add(int{n}),
          [=] { std::memset(out, 0, n * 4 * sizeof(float)); },
          [=] {
            for (int i = 0; i < n; i += 509) {
              double ax = 0;
              for (int j = 0; j < n; ++j) {
                const double dx = p[j * 4] - p[i * 4], dy = p[j * 4 + 1] - p[i * 4 + 1],
                             dz = p[j * 4 + 2] - p[i * 4 + 2];
                ax += p[j * 4 + 3] * dx / std::pow(dx * dx + dy * dy + dz * dz + 0.01, 1.5);
              }
              if (!close(out[i * 4], ax, 1e-3)) return false;
            }
            return true;
          }};
}

Subject collatz(Machine& machine) {
  constexpr int n = 1 << 17;
  int* steps = device_array<int>(machine, n);
  return {"collatz",
          {.x = n / 256},
          {.x = 256},
          Parameters{}.add(steps).add(int{n}),
          [=] { std::memset(steps, 0, n * sizeof(int)); },
          [=] {
            for (int i = 0; i < n; i += 1009) {
              uint32_t v = static_cast<uint32_t>(i) + 1;
              int count = 0;
              for (; v != 1; ++count) v = v & 1 ? 3 * v + 1 : v / 2;
              if (steps[i] != count) return false;
            }
            return true;
          }};
}

Subject histogram(Machine& machine) {
  constexpr int n = 1 << 22;
  uint32_t* values = device_array<uint32_t>(machine, n);
  uint32_t* counts = device_array<uint32_t>(machine, 256);
  std::vector<uint32_t> expected(256);
  for (int i = 0; i < n; ++i) {
    values[i] = static_cast<uint32_t>(i) * 2654435761u >> 7;
    ++expected[values[i] & 255];
  }
  return {"histogram",
          {.x = 64},
          {.x = 256},
          Parameters{}.add(values).add(counts).add(int{n}),
          [=] { std::memset(counts, 0, 256 * sizeof(uint32_t)); },
          [=] { return std::memcmp(counts, expected.data(), 256 * sizeof(uint32_t)) == 0; }};
}

Subject saxpy(Machine& machine) {
  constexpr int n = 1 << 21;
  float* x = device_array<float>(machine, n);
  float* y = device_array<float>(machine, n);
  auto clear = [=] {
    for (int i = 0; i < n; ++i) {
      x[i] = static_cast<float>(i % 257);
      y[i] = static_cast<float>(i % 63);
    }
  };
  return {"saxpy",
          {.x = n / 256},
          {.x = 256},
          Parameters{}.add(int{n}).add(2.5f).add(x).add(y),
          clear,
          [=] {
            for (int i = 0; i < n; ++i)  // exact in f32
              if (y[i] != 2.5f * static_cast<float>(i % 257) + static_cast<float>(i % 63))
                return false;
            return true;
          }};
}

Subject transpose(Machine& machine) {
  constexpr int n = 1024;
  float* in = device_array<float>(machine, n * n);
  float* out = device_array<float>(machine, n * n);
  for (int i = 0; i < n * n; ++i) in[i] = static_cast<float>(i);
  return {"transpose",
          {.x = n / 32, .y = n / 32},
          {.x = 32, .y = 8},
          Parameters{}.add(in).add(out).add(int{n}),
          [=] { std::memset(out, 0, n * n * sizeof(float)); },
          [=] {
            for (int i = 0; i < n * n; ++i)
              if (out[i] != in[i % n * n + i / n]) return false;
            return true;
          }};
}

Subject heat(Machine& machine) {
  constexpr int n = 1024;
  float* in = device_array<float>(machine, n * n);
  float* out = device_array<float>(machine, n * n);
  for (int i = 0; i < n * n; ++i) in[i] = static_cast<float>((i * 31) % 97);
  return {"heat",
          {.x = n / 32, .y = n / 8},
          {.x = 32, .y = 8},
          Parameters{}.add(in).add(out).add(int{n}),
          [=] { std::memset(out, 0, n * n * sizeof(float)); },
          [=] {
            for (int y = 1; y + 1 < n; y += 3)
              for (int x = 1; x + 1 < n; ++x) {
                const float* p = in + y * n + x;
                const double around = double{p[-1]} + p[1] + p[-n] + p[n];
                if (!close(out[y * n + x], p[0] + 0.2 * (around - 4.0 * p[0]), 1e-5)) return false;
              }
            return out[0] == in[0] && out[n * n - 1] == in[n * n - 1];
          }};
}

Subject reduction(Machine& machine) {
  constexpr int n = 1 << 21;
  int* values = device_array<int>(machine, n);
  int* total = device_array<int>(machine, 1);
  int expected = 0;
  for (int i = 0; i < n; ++i) {
    values[i] = (i * 7) % 1001 - 500;
    expected += values[i];
  }
  return {"reduction",         {.x = 512},
          {.x = 256},          Parameters{}.add(values).add(total).add(int{n}),
          [=] { *total = 0; }, [=] { return *total == expected; }};
}

}  // namespace

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const std::vector<SubjectEntry>& scalar_subjects() {
  static const std::vector<SubjectEntry> entries = {
      {"softmax", softmax},     {"tiled_product", tiled_product},
      {"bodies", bodies},       {"collatz", collatz},
      {"histogram", histogram}, {"saxpy", saxpy},
      {"transpose", transpose}, {"heat", heat},
      {"reduction", reduction}};
  return entries;
}

Timing run(Machine& machine, Program& program, const Subject& subject) {
  Timing timing;
  Launch launch;
  launch.kernel = program.find_kernel(subject.name);
  if (launch.kernel == nullptr) return timing;
  launch.grid = subject.grid;
  launch.block = subject.block;
  launch.parameters = subject.parameters.bytes;
  program.reset_counts();
  subject.clear();
  const double start = processor_seconds();
  const auto result = machine.run(launch);
  timing.seconds = processor_seconds() - start;
  if (result.ok() && result->has_value()) std::printf("%s\n", format(**result).c_str());
  timing.right = result.ok() && !result->has_value() && subject.right();
  for (const InstructionCount& count : program.counts()) timing.warps += count.warps;
  return timing;
}

}  // namespace weft::emulator
