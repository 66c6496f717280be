// SPDX-License-Identifier: Apache-2.0

// The look-ups that are compared: a texture, the instruction that reads it, the places, and how far
// the results may differ.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/textures/lookups.cuh"
#include "tests/gpu/textures/objects.cuh"
#include "tests/gpu/textures/places.cuh"

namespace textures {

struct Suite {
  std::string name;
  double bound;  // of the difference, as a share of the largest magnitude; 0: bit for bit
  std::function<std::vector<uint4>()> run;
};

template <typename Form>
std::vector<uint4> run(unsigned long long object, const Places& places) {
  const int count = static_cast<int>(places.size());
  Place* at = nullptr;
  uint4* results = nullptr;
  expect(cudaMalloc(&at, places.size() * sizeof(Place)), "memory");
  expect(cudaMalloc(&results, places.size() * sizeof(uint4)), "memory");
  expect(cudaMemcpy(at, places.data(), places.size() * sizeof(Place), cudaMemcpyHostToDevice),
         "copy");
  look_up<Form><<<(count + 127) / 128, 128>>>(object, at, count, results);
  expect(cudaGetLastError(), "launching");
  std::vector<uint4> host(places.size());
  expect(cudaMemcpy(host.data(), results, host.size() * sizeof(uint4), cudaMemcpyDeviceToHost),
         "looking up");
  cudaFree(at);
  cudaFree(results);
  return host;
}

template <typename Form>
Suite suite(std::string name, double bound, std::function<unsigned long long()> object,
            Places places) {
  return {std::move(name), bound, [=] { return run<Form>(object(), places); }};
}

// The share that a step of 1/256 in a weight may make, and four such steps where the level of
// detail or the curve of sRGB, whose exact arithmetic is unknown, decides about weights.
constexpr double kFiltered = 1.0 / 100, kUnknownCurve = 1.0 / 64;

struct Named {
  const char* name;
  Format format;
  bool floats;
};

// Coordinates outside, in one to three dimensions and for all modes.
inline void add_address_modes(std::vector<Suite>& suites) {
  const char* const kModes[] = {"wrap", "clamp", "mirror", "border"};
  for (int m = 0; m < 4; ++m) {
    const auto mode = static_cast<cudaTextureAddressMode>(m);
    const auto line = [=](bool linear, bool normalized) {
      return texture_of(make_array(kFloat1, make_cudaExtent(16, 0, 0), 0, Values::Index256),
                        Sampling{mode, linear, normalized});
    };
    const std::string name = kModes[m];
    suites.push_back(suite<Tex1d>(
        "point_1d_" + name, 0, [=] { return line(false, false); }, steps(-3, 1 / 512.0f, 11264)));
    suites.push_back(suite<Tex1d>(
        "point_1d_normalized_" + name, 0, [=] { return line(false, true); },
        steps(-2, 1 / 2048.0f + 1e-7f, 8192)));
    suites.push_back(suite<Tex1d>(
        "linear_1d_" + name, kFiltered, [=] { return line(true, false); },
        steps(-3, 1 / 512.0f, 11264)));
    suites.push_back(suite<Tex1d>(
        "linear_1d_normalized_" + name, kFiltered, [=] { return line(true, true); },
        steps(-2, 1 / 2048.0f + 1e-7f, 8192)));
    const auto plane = [=](bool linear, bool normalized) {
      return texture_of(make_array(kFloat4, make_cudaExtent(13, 9, 0)),
                        Sampling{mode, linear, normalized});
    };
    suites.push_back(suite<Tex2d>(
        "point_2d_" + name, 0, [=] { return plane(false, true); }, random_places(4096, -2, 3, 7)));
    suites.push_back(suite<Tex2d>(
        "linear_2d_" + name, kFiltered, [=] { return plane(true, false); },
        random_places(4096, -3, 16, 8)));
    suites.push_back(suite<Tex2d>(
        "linear_2d_normalized_" + name, kFiltered, [=] { return plane(true, true); },
        random_places(4096, -2, 3, 9)));
    suites.push_back(suite<Tex3d>(
        "linear_3d_" + name, kFiltered,
        [=] {
          return texture_of(make_array(kFloat2, make_cudaExtent(7, 5, 6)),
                            Sampling{mode, true, true});
        },
        random_places(4096, -1, 2, 10)));
    suites.push_back(suite<Tex2d>(
        "integers_" + name, 0,
        [=] {
          return texture_of(make_array(kInt1, make_cudaExtent(8, 8, 0)),
                            Sampling{mode, false, true});
        },
        random_places(1024, -1, 2, 11)));
  }
  // Fine steps round a texel's middle and edge: where positions are cut to fixed point.
  const auto fine = [](bool linear) {
    return texture_of(make_array(kFloat1, make_cudaExtent(16, 0, 0), 0, Values::Index256),
                      Sampling{cudaAddressModeClamp, linear, false});
  };
  suites.push_back(suite<Tex1d>(
      "point_1d_fine", 0, [=] { return fine(false); }, steps(4.98f, 1e-5f, 4096)));
  suites.push_back(suite<Tex1d>(
      "linear_1d_fine", kFiltered, [=] { return fine(true); }, steps(4.48f, 1e-5f, 4096)));
}

// Texels of other formats, and what instructions make of them.
inline void add_formats(std::vector<Suite>& suites) {
  for (const Named& n : std::initializer_list<Named>{{"float2", kFloat2, false},
                                                     {"half1", kHalf1, false},
                                                     {"half4", kHalf4, false},
                                                     {"byte1", kByte1, true},
                                                     {"byte4", kByte4, true},
                                                     {"signed1", kSigned1, true},
                                                     {"short2", kShort2, true},
                                                     {"word1", kWord1, true}}) {
    for (bool linear : {false, true})
      suites.push_back(suite<Tex2d>(
          std::string(linear ? "linear_" : "point_") + n.name, linear ? kFiltered : 0,
          [=] {
            return texture_of(make_array(n.format, make_cudaExtent(16, 16, 0)),
                              Sampling{cudaAddressModeClamp, linear, false, n.floats});
          },
          random_places(2048, 0, 16, 12)));
  }
  for (const Named& n : std::initializer_list<Named>{{"byte1", kByte1, false},
                                                     {"byte4", kByte4, false},
                                                     {"signed1", kSigned1, false},
                                                     {"short2", kShort2, false},
                                                     {"uint4", kUint4, false}})
    suites.push_back(suite<Tex2d>(
        std::string("elements_") + n.name, 0,
        [=] { return texture_of(make_array(n.format, make_cudaExtent(16, 16, 0)), Sampling{}); },
        random_places(512, 0, 16, 13)));
  suites.push_back(suite<TexHalf2d>(
      "halves", 0,
      [] { return texture_of(make_array(kFloat4, make_cudaExtent(16, 16, 0)), Sampling{}); },
      random_places(512, 0, 16, 14)));
  suites.push_back(suite<TexOffset2d>(
      "offsets", 0,
      [] { return texture_of(make_array(kFloat4, make_cudaExtent(16, 16, 0)), Sampling{}); },
      random_places(512, -2, 18, 15)));
  for (bool linear : {false, true})
    suites.push_back(suite<Tex2d>(
        linear ? "linear_srgb" : "point_srgb", kUnknownCurve,
        [=] {
          return texture_of(make_array(kByte4, make_cudaExtent(16, 16, 0)),
                            Sampling{cudaAddressModeClamp, linear, false, true, true});
        },
        random_places(2048, 0, 16, 16)));
}

inline void add_layers_and_cubes(std::vector<Suite>& suites) {
  suites.push_back(suite<TexA1d>(
      "layers_1d", kFiltered,
      [] {
        return texture_of(make_array(kFloat1, make_cudaExtent(16, 0, 5), cudaArrayLayered),
                          Sampling{cudaAddressModeClamp, true});
      },
      random_places(1024, -1, 17, 17)));
  suites.push_back(suite<TexA2d>(
      "layers_2d", 0,
      [] {
        return texture_of(make_array(kFloat4, make_cudaExtent(8, 4, 5), cudaArrayLayered),
                          Sampling{});
      },
      random_places(1024, -1, 9, 18)));
  for (bool linear : {false, true})
    for (bool seamless : {false, true}) {
      const Sampling how{.linear = linear, .normalized = true, .seamless = seamless};
      const std::string name =
          std::string(linear ? "linear_" : "point_") + (seamless ? "seamless_" : "");
      suites.push_back(suite<TexCube>(
          name + "cube", linear ? kFiltered : 0,
          [=] {
            return texture_of(make_array(kFloat1, make_cudaExtent(8, 8, 6), cudaArrayCubemap), how);
          },
          random_places(4096, -1, 1, 19)));
      suites.push_back(suite<TexACube>(
          name + "cubes", linear ? kFiltered : 0,
          [=] {
            return texture_of(
                make_array(kFloat1, make_cudaExtent(4, 4, 18), cudaArrayCubemap | cudaArrayLayered),
                how);
          },
          random_places(1024, -1, 1, 20)));
    }
  Places ties;
  for (int i = 0; i < 27; ++i)
    ties.push_back({static_cast<float>(i % 3 - 1), static_cast<float>(i / 3 % 3 - 1),
                    static_cast<float>(i / 9 - 1), 0, 0});
  suites.push_back(suite<TexCube>(
      "cube_ties", 0,
      [] {
        return texture_of(make_array(kFloat1, make_cudaExtent(8, 8, 6), cudaArrayCubemap),
                          Sampling{.normalized = true});
      },
      ties));
}

inline void add_levels(std::vector<Suite>& suites) {
  for (bool linear : {false, true})
    for (bool between_levels : {false, true}) {
      const Sampling how{
          .linear = linear, .normalized = true, .linear_levels = between_levels, .largest = 4};
      const std::string name =
          std::string(linear ? "linear" : "point") + (between_levels ? "_between" : "");
      const double bound = linear || between_levels ? kFiltered : 0;
      const auto object = [=] {
        return texture_of(make_array(kFloat1, make_cudaExtent(32, 32, 0), 0, Values::Random, 5),
                          how);
      };
      Places levels = random_places(4096, 0, 1, 21);
      for (size_t i = 0; i < levels.size(); ++i) levels[i].lod = -1 + static_cast<float>(i) / 683;
      suites.push_back(suite<TexLevel2d>("level_" + name, bound, object, levels));
      for (Place& p : levels) p.lod = std::exp2(p.lod) / 32;
      suites.push_back(
          suite<TexGrad2d>("gradient_" + name, bound == 0 ? 0 : kUnknownCurve, object, levels));
      suites.push_back(
          suite<Tex2d>("no_level_" + name, bound, object, random_places(512, 0, 1, 22)));
    }
  suites.push_back(suite<TexLevel2d>(
      "level_limits", kFiltered,
      [] {
        return texture_of(make_array(kFloat1, make_cudaExtent(32, 32, 0), 0, Values::Random, 5),
                          Sampling{.linear = true,
                                   .normalized = true,
                                   .linear_levels = true,
                                   .bias = 0.75f,
                                   .least = 1.5f,
                                   .largest = 3.25f});
      },
      random_places(2048, 0, 1, 23)));
}

inline void add_gathers(std::vector<Suite>& suites) {
  const auto gathered = [](const Format& format, bool linear) {
    return texture_of(make_array(format, make_cudaExtent(16, 8, 0), cudaArrayTextureGather),
                      Sampling{cudaAddressModeClamp, linear, false});
  };
  suites.push_back(suite<GatherR>(
      "gather_r", 0, [=] { return gathered(kFloat4, true); }, random_places(2048, -1, 17, 24)));
  suites.push_back(suite<GatherR>(
      "gather_point", 0, [=] { return gathered(kFloat4, false); },
      random_places(2048, -1, 17, 24)));
  suites.push_back(suite<GatherG>(
      "gather_g", 0, [=] { return gathered(kFloat4, true); }, random_places(512, -1, 17, 25)));
  suites.push_back(suite<GatherA>(
      "gather_a", 0, [=] { return gathered(kByte4, false); }, random_places(512, -1, 17, 26)));
  suites.push_back(suite<GatherA>(
      "gather_missing", 0, [=] { return gathered(kByte1, false); }, random_places(64, 0, 17, 27)));
}

// Integer coordinates, and memory that is no array.
inline void add_fetches(std::vector<Suite>& suites) {
  suites.push_back(suite<Fetch1d>(
      "fetch_linear_memory", 0,
      [] {
        float* memory = nullptr;
        const auto bytes = texels(kFloat1, 9, Values::Random, 3);
        expect(cudaMalloc(&memory, bytes.size()), "memory");
        expect(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copy");
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear = {memory, kFloat1.description(), bytes.size()};
        return texture_of(resource, Sampling{});
      },
      whole_numbers()));
  suites.push_back(suite<Tex2d>(
      "pitched", kFiltered,
      [] {
        char* memory = nullptr;
        const auto bytes = texels(kFloat1, 128 * 8, Values::Random, 4);
        expect(cudaMalloc(&memory, bytes.size()), "memory");
        expect(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copy");
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D = {memory, kFloat1.description(), 100, 8, 512};
        return texture_of(resource, Sampling{cudaAddressModeClamp, true});
      },
      random_places(1024, -2, 102, 28)));
  for (bool border : {false, true})
    suites.push_back(suite<Fetch2d>(
        border ? "fetch_2d_border" : "fetch_2d_clamp", 0,
        [=] {
          return texture_of(make_array(kFloat1, make_cudaExtent(9, 5, 0)),
                            Sampling{border ? cudaAddressModeBorder : cudaAddressModeClamp});
        },
        whole_numbers()));
  suites.push_back(suite<FetchA2d>(
      "fetch_layers", 0,
      [] {
        return texture_of(make_array(kFloat1, make_cudaExtent(9, 5, 4), cudaArrayLayered),
                          Sampling{});
      },
      whole_numbers()));
  suites.push_back(suite<FetchLevel2d>(
      "fetch_level", 0,
      [] {
        return texture_of(make_array(kFloat1, make_cudaExtent(16, 8, 0), 0, Values::Random, 3),
                          Sampling{.largest = 2});
      },
      whole_numbers()));
}

inline void add_surfaces(std::vector<Suite>& suites) {
  const auto surface = [](unsigned flags, size_t depth) {
    return surface_of(
        make_array(kFloat1, make_cudaExtent(9, 5, depth), cudaArraySurfaceLoadStore | flags));
  };
  suites.push_back(suite<LoadClamp>(
      "surface_clamp", 0, [=] { return surface(0, 0); }, whole_numbers()));
  suites.push_back(suite<LoadZero>(
      "surface_zero", 0, [=] { return surface(0, 0); }, whole_numbers()));
  suites.push_back(suite<LoadLayerClamp>(
      "surface_layers", 0, [=] { return surface(cudaArrayLayered, 4); }, whole_numbers()));
  for (const Named& n : std::initializer_list<Named>{{"float4", kFloat4, false},
                                                     {"half4", kHalf4, false},
                                                     {"byte4", kByte4, false},
                                                     {"short2", kShort2, false},
                                                     {"uint4", kUint4, false}})
    suites.push_back(
        {std::string("formatted_store_") + n.name, 0, [=] {
           const Array array =
               make_array(n.format, make_cudaExtent(64, 8, 0), cudaArraySurfaceLoadStore);
           Places places = random_places(512, -3, 300, 29);
           for (size_t i = 0; i < places.size(); ++i) places[i].lod = static_cast<float>(i);
           run<StoreSample>(surface_of(array), places);
           std::vector<uint4> result(64 * 8 * static_cast<size_t>(n.format.bytes()) / 16);
           const size_t row = 64 * static_cast<size_t>(n.format.bytes());
           expect(cudaMemcpy2DFromArray(result.data(), row, array.array, 0, 0, row, 8,
                                        cudaMemcpyDeviceToHost),
                  "reading a surface");
           return result;
         }});
}

inline std::vector<Suite> all_suites() {
  std::vector<Suite> suites;
  add_address_modes(suites);
  add_formats(suites);
  add_layers_and_cubes(suites);
  add_levels(suites);
  add_gathers(suites);
  add_fetches(suites);
  add_surfaces(suites);
  return suites;
}

}  // namespace textures
