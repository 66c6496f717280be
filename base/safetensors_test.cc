// SPDX-License-Identifier: Apache-2.0

// The file in ReadsAFileWrittenByHand is laid out by hand from the format's description.
#include "base/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft {
namespace {

class SafetensorsTest : public testing::Test {
 protected:
  // The eight bytes of the length, the header, the data.
  void write(const std::string& header, const std::string& data) {
    std::string file(8, '\0');
    for (int i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
    ASSERT_TRUE(write_file(path(), file + header + data).ok());
  }
  std::string path() const { return folder_.file("t.safetensors"); }
  std::string refusal() const {
    const Result<Safetensors> result = Safetensors::open(path());
    return result.ok() ? "accepted" : result.error().message();
  }

  TemporaryDirectory folder_ = TemporaryDirectory::create("test").value();
};

TEST_F(SafetensorsTest, ReadsAFileWrittenByHand) {
  write(R"({"__metadata__":{"by":"hand"},"w":{"dtype":"U16","shape":[2,2],"data_offsets":[0,8]}})",
        std::string("\x01\x00\x02\x00\x03\x00\x04\x00", 8));
  const Result<Safetensors> file = Safetensors::open(path());
  ASSERT_TRUE(file.ok()) << format(file.error());
  const TensorView view = file->tensor("w").value();
  EXPECT_EQ(view.type, "U16");
  EXPECT_EQ(view.shape, (std::vector<uint64_t>{2, 2}));
  uint16_t values[4];
  ASSERT_EQ(view.bytes.size(), sizeof values);
  std::memcpy(values, view.bytes.data(), sizeof values);
  EXPECT_EQ(values[3], 4);
  EXPECT_EQ(file->metadata().at("by"), "hand");
}

TEST_F(SafetensorsTest, RoundTrips) {
  const std::string a(24, 'a'), scalar(8, 's'), nothing;
  ASSERT_TRUE(write_safetensors(path(),
                                {{"a", {"F32", {2, 3}, a}},
                                 {"scalar", {"F64", {}, scalar}},
                                 {"empty", {"BF16", {0, 5}, nothing}}},
                                {{"key", "value"}})
                  .ok());
  const Result<Safetensors> file = Safetensors::open(path());
  ASSERT_TRUE(file.ok()) << format(file.error());
  EXPECT_EQ(file->tensors().size(), 3u);
  EXPECT_EQ(file->tensor("a")->bytes, a);
  EXPECT_EQ(file->tensor("scalar")->bytes, scalar);
  EXPECT_EQ(file->tensor("empty")->shape, (std::vector<uint64_t>{0, 5}));
  EXPECT_EQ(file->metadata().at("key"), "value");
}

TEST_F(SafetensorsTest, RefusesWhatLeavesTheFile) {
  write(R"({"w":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", "12345678");
  EXPECT_EQ(refusal(), "safetensors entry w has data_offsets outside the file: 0 to 9 of 8");
  write(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[6,2]}})", "12345678");
  EXPECT_EQ(refusal(), "safetensors entry w has data_offsets outside the file: 6 to 2 of 8");
}

TEST_F(SafetensorsTest, RefusesShapesThatDoNotFit) {
  write(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678");
  EXPECT_EQ(refusal(), "safetensors entry w has a shape that does not fill its data_offsets");
  // 2^62 * 4 is 2^64, which must not wrap to 0.
  write(R"({"w":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", "");
  EXPECT_EQ(refusal(), "safetensors entry w has a shape that does not fill its data_offsets");
}

TEST_F(SafetensorsTest, RefusesGarbage) {
  ASSERT_TRUE(write_file(path(), "").ok());
  EXPECT_EQ(refusal(), "too short for a safetensors file");
  ASSERT_TRUE(write_file(path(), std::string(8, '\xff') + "{}").ok());
  EXPECT_EQ(refusal(), "safetensors header longer than the file: 18446744073709551615");
  write("[1]", "");
  EXPECT_EQ(refusal(), "safetensors header is not an object");
  write(R"({"w":{"dtype":"F33","shape":[],"data_offsets":[0,0]}})", "");
  EXPECT_EQ(refusal(), "safetensors entry w has an unknown dtype: F33");
  write(R"({"w":[]})", "");
  EXPECT_EQ(refusal(), "safetensors entry w is not an object");
}

TEST_F(SafetensorsTest, NamesWhatThereIs) {
  write(R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", "1");
  const Result<Safetensors> file = Safetensors::open(path());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->tensor("b").error().diagnostics.front().hint, "there are: a");
}

}  // namespace
}  // namespace weft
