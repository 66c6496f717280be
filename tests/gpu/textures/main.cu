// SPDX-License-Identifier: Apache-2.0

// texture_lookups record FILE         looks up many places in many textures and writes the results
// texture_lookups compare GPU OURS    compares two such files, suite by suite
// texture_lookups digest FILE         one line for each suite: a digest of its results
// texture_lookups check DIGESTS       compares the device at hand with digests of another (for CI)
//
// The same program runs on a GPU and on the emulator. Filtered results may differ by the bound of
// their suite; the hardware's arithmetic between weights of 1/256 is not documented. Everything
// else agrees bit for bit.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/gpu/textures/lookups.cuh"

namespace {

// What the library refuses costs one suite only.
void expect(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

uint64_t mix(uint64_t z) {  // splitmix64's output function
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
float between(uint64_t seed, float low, float high) {
  return low + (high - low) * static_cast<float>(mix(seed) >> 40) / 16777216.0f;
}

// --- Textures -----------------------------------------------------------------------------------

struct Format {
  int bits, channels;
  cudaChannelFormatKind kind;
  int bytes() const { return bits / 8 * channels; }
  cudaChannelFormatDesc description() const {
    const int b = bits;
    return cudaCreateChannelDesc(b, channels > 1 ? b : 0, channels > 2 ? b : 0,
                                 channels > 2 ? b : 0, kind);
  }
};
constexpr Format kFloat1{32, 1, cudaChannelFormatKindFloat},
    kFloat2{32, 2, cudaChannelFormatKindFloat}, kFloat4{32, 4, cudaChannelFormatKindFloat},
    kHalf1{16, 1, cudaChannelFormatKindFloat}, kHalf4{16, 4, cudaChannelFormatKindFloat},
    kByte1{8, 1, cudaChannelFormatKindUnsigned}, kByte4{8, 4, cudaChannelFormatKindUnsigned},
    kSigned1{8, 1, cudaChannelFormatKindSigned}, kShort2{16, 2, cudaChannelFormatKindSigned},
    kWord1{16, 1, cudaChannelFormatKindUnsigned}, kInt1{32, 1, cudaChannelFormatKindSigned},
    kUint4{32, 4, cudaChannelFormatKindUnsigned};

enum class Values { Random, Index256 };

std::vector<unsigned char> texels(const Format& format, size_t count, Values values,
                                  uint64_t seed) {
  std::vector<unsigned char> bytes(count * static_cast<size_t>(format.bytes()));
  const size_t width = static_cast<size_t>(format.bits) / 8;
  for (size_t i = 0; i < count * static_cast<size_t>(format.channels); ++i) {
    uint32_t bits = static_cast<uint32_t>(mix(seed + i));
    if (format.kind == cudaChannelFormatKindFloat) {
      const float value =
          values == Values::Index256 ? 256.0f * static_cast<float>(i) : between(seed + i, -4, 4);
      std::memcpy(&bits, &value, 4);
      // A half that is normal and not too large.
      if (format.bits == 16)
        bits =
            (bits >> 16 & 0x8000) | (static_cast<uint32_t>(10 + mix(i) % 8) << 10) | (bits & 0x3ff);
    }
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

struct Array {
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mipmap = nullptr;
};

void fill(cudaArray_t array, const Format& format, cudaExtent extent, Values values,
          uint64_t seed) {
  const cudaExtent whole = make_cudaExtent(extent.width, extent.height ? extent.height : 1,
                                           extent.depth ? extent.depth : 1);
  const auto bytes = texels(format, whole.width * whole.height * whole.depth, values, seed);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<unsigned char*>(bytes.data()),
                                    whole.width * static_cast<size_t>(format.bytes()), whole.width,
                                    whole.height);
  copy.dstArray = array;
  copy.extent = whole;
  copy.kind = cudaMemcpyHostToDevice;
  expect(cudaMemcpy3D(&copy), "copying texels");
}

Array make_array(const Format& format, cudaExtent extent, unsigned flags = 0,
                 Values values = Values::Random, unsigned levels = 0) {
  Array made;
  const cudaChannelFormatDesc description = format.description();
  if (levels == 0) {
    expect(cudaMalloc3DArray(&made.array, &description, extent, flags), "making an array");
    fill(made.array, format, extent, values, 1);
    return made;
  }
  expect(cudaMallocMipmappedArray(&made.mipmap, &description, extent, levels, flags), "mipmaps");
  for (unsigned level = 0; level < levels; ++level) {
    cudaArray_t array = nullptr;
    expect(cudaGetMipmappedArrayLevel(&array, made.mipmap, level), "a level");
    fill(array, format, make_cudaExtent(extent.width >> level, extent.height >> level, 0), values,
         1000 * level);
  }
  return made;
}

struct Sampling {
  cudaTextureAddressMode mode = cudaAddressModeClamp;
  bool linear = false, normalized = false, floats = false, srgb = false, linear_levels = false,
       seamless = false;
  float bias = 0, least = 0, largest = 0;
};

unsigned long long texture_of(const cudaResourceDesc& resource, const Sampling& how) {
  cudaTextureDesc texture{};
  for (auto& mode : texture.addressMode) mode = how.mode;
  texture.filterMode = how.linear ? cudaFilterModeLinear : cudaFilterModePoint;
  texture.readMode = how.floats ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  texture.normalizedCoords = how.normalized;
  texture.sRGB = how.srgb;
  texture.seamlessCubemap = how.seamless;
  texture.mipmapFilterMode = how.linear_levels ? cudaFilterModeLinear : cudaFilterModePoint;
  texture.mipmapLevelBias = how.bias;
  texture.minMipmapLevelClamp = how.least;
  texture.maxMipmapLevelClamp = how.largest;
  const float border[4] = {1.5f, -2.0f, 3.25f, 0.5f};
  std::memcpy(texture.borderColor, border, sizeof border);
  cudaTextureObject_t object = 0;
  expect(cudaCreateTextureObject(&object, &resource, &texture, nullptr), "a texture object");
  return object;
}
unsigned long long texture_of(const Array& array, const Sampling& how) {
  cudaResourceDesc resource{};
  resource.resType = array.mipmap ? cudaResourceTypeMipmappedArray : cudaResourceTypeArray;
  if (array.mipmap)
    resource.res.mipmap.mipmap = array.mipmap;
  else
    resource.res.array.array = array.array;
  return texture_of(resource, how);
}
unsigned long long surface_of(const Array& array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array.array;
  cudaSurfaceObject_t object = 0;
  expect(cudaCreateSurfaceObject(&object, &resource), "a surface object");
  return object;
}

// --- Places -------------------------------------------------------------------------------------

using Places = std::vector<Place>;

Places random_places(int count, float low, float high, uint64_t seed) {
  Places places;
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i)
    places.push_back({between(seed + 5 * i, low, high), between(seed + 5 * i + 1, low, high),
                      between(seed + 5 * i + 2, low, high),
                      static_cast<int>(mix(seed + 5 * i + 3) % 8) - 1,
                      between(seed + 5 * i + 4, -1, 5)});
  return places;
}
Places steps(float first, float step, int count, float y = 0.5f) {
  Places places;
  for (int i = 0; i < count; ++i)
    places.push_back({first + step * static_cast<float>(i), y, 0.5f, 0, 0});
  return places;
}
Places whole_numbers() {
  Places places;
  for (int y = -2; y < 7; ++y)
    for (int x = -3; x < 12; ++x)
      places.push_back({static_cast<float>(x), static_cast<float>(y), 0, (x + y) % 6,
                        static_cast<float>((x + 3) % 4)});
  return places;
}

// --- Suites -------------------------------------------------------------------------------------

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

std::vector<Suite> all_suites() {
  std::vector<Suite> suites;
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
  struct Named {
    const char* name;
    Format format;
    bool floats;
  };
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
  return suites;
}

// --- Records ------------------------------------------------------------------------------------

int record(const char* path) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return 2;
  cudaDeviceProp properties{};
  expect(cudaGetDeviceProperties(&properties, 0), "the device");
  std::fprintf(file, "%s\n", properties.name);
  size_t count = 0, refused = 0;
  for (const Suite& suite : all_suites()) {
    std::vector<uint4> results;
    try {
      results = suite.run();
      ++count;
    } catch (const std::exception& error) {
      std::printf("refused %-32s %s\n", suite.name.c_str(), error.what());
      cudaGetLastError();
      ++refused;
    }
    std::fprintf(file, "%s %zu %.17g\n", suite.name.c_str(), results.size(), suite.bound);
    std::fwrite(results.data(), sizeof(uint4), results.size(), file);
    std::fputc('\n', file);
  }
  std::fclose(file);
  std::printf("%s: %zu suites, %zu refused\n", properties.name, count, refused);
  return 0;
}

struct Recorded {
  double bound = 0;
  std::vector<uint32_t> words;
};

bool read(const char* path, std::map<std::string, Recorded>& all) {
  std::FILE* file = std::fopen(path, "rb");
  char line[256], name[128];
  if (file == nullptr || std::fgets(line, sizeof line, file) == nullptr) return false;
  std::printf("%s: %s", path, line);
  size_t count = 0;
  double bound = 0;
  while (std::fgets(line, sizeof line, file) &&
         std::sscanf(line, "%127s %zu %lf", name, &count, &bound) == 3) {
    Recorded& recorded = all[name];
    recorded.bound = bound;
    recorded.words.resize(count * 4);
    if (std::fread(recorded.words.data(), 4, count * 4, file) != count * 4) return false;
    std::fgetc(file);
  }
  std::fclose(file);
  return true;
}

int compare(const char* gpu_path, const char* our_path) {
  std::map<std::string, Recorded> gpu, ours;
  if (!read(gpu_path, gpu) || !read(our_path, ours)) return 2;
  int failures = 0;
  for (const auto& [name, right] : gpu) {
    if (right.words.empty()) continue;  // the device refused it
    const auto& mine = ours[name].words;
    if (mine.size() != right.words.size()) {
      std::printf("FAIL %-32s %zu words instead of %zu\n", name.c_str(), mine.size(),
                  right.words.size());
      ++failures;
      continue;
    }
    size_t different = 0, first = 0;
    double worst = 0, largest = 0;
    for (size_t i = 0; i < mine.size(); ++i) {
      float a, b;
      std::memcpy(&a, &right.words[i], 4);
      std::memcpy(&b, &mine[i], 4);
      if (std::isfinite(a)) largest = std::fmax(largest, std::fabs(a));
      if (right.words[i] == mine[i]) continue;
      if (different++ == 0) first = i;
      const double difference = std::fabs(static_cast<double>(a) - b);
      worst = std::isfinite(difference) ? std::fmax(worst, difference) : INFINITY;
    }
    const double share = largest > 0 ? worst / largest : worst;
    const double bound = ours[name].bound;
    const bool good = different == 0 || share <= bound;
    failures += !good;
    std::printf("%s %-32s %zu of %zu words differ",
                different == 0 ? "ok  "
                : good         ? "near"
                               : "FAIL",
                name.c_str(), different, mine.size());
    if (different != 0)
      std::printf(
          ", by %.3g of the largest at most; place %zu channel %zu: device %#x emulator %#x", share,
          first / 4, first % 4, right.words[first], mine[first]);
    std::printf("\n");
  }
  std::printf("%d suites differ\n", failures);
  return failures == 0 ? 0 : 1;
}

std::string digest_of(const uint32_t* words, size_t count) {  // FNV-1a by words
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < count; ++i) h = (h ^ words[i]) * 0x100000001b3ull;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

int digest(const char* path) {
  std::map<std::string, Recorded> all;
  if (!read(path, all)) return 2;
  for (const auto& [name, recorded] : all)
    if (!recorded.words.empty())
      std::printf("%s %s\n", digest_of(recorded.words.data(), recorded.words.size()).c_str(),
                  name.c_str());
  return 0;
}

// Suites without a line in the file are left alone: those where single bits are known to differ.
int check(const char* path) {
  std::map<std::string, std::string> wanted;
  std::FILE* file = std::fopen(path, "r");
  char line[256], digest[32], name[128];
  if (file == nullptr) return 2;
  while (std::fgets(line, sizeof line, file))
    if (line[0] != '#' && std::sscanf(line, "%31s %127s", digest, name) == 2) wanted[name] = digest;
  std::fclose(file);
  size_t equal = 0, different = 0;
  for (const Suite& suite : all_suites()) {
    const auto found = wanted.find(suite.name);
    if (found == wanted.end()) continue;
    const auto results = suite.run();
    const bool agrees = digest_of(reinterpret_cast<const uint32_t*>(results.data()),
                                  results.size() * 4) == found->second;
    ++(agrees ? equal : different);
    if (!agrees) std::printf("FAIL %s\n", suite.name.c_str());
    wanted.erase(found);
  }
  for (const auto& [lost, unused] : wanted)
    std::printf("FAIL %s is recorded, but no suite\n", lost.c_str());
  std::printf("%zu suites equal, %zu differ\n", equal, different);
  return different == 0 && wanted.empty() && equal != 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "record") == 0) return record(arguments[2]);
  if (count == 4 && std::strcmp(arguments[1], "compare") == 0)
    return compare(arguments[2], arguments[3]);
  if (count == 3 && std::strcmp(arguments[1], "digest") == 0) return digest(arguments[2]);
  if (count == 3 && std::strcmp(arguments[1], "check") == 0) return check(arguments[2]);
  std::fprintf(
      stderr,
      "usage: texture_lookups record FILE | compare GPU OURS | digest FILE | check DIGESTS\n");
  return 2;
}
