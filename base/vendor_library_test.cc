// SPDX-License-Identifier: Apache-2.0

// With the C library's mathematics in the vendor's place: it is there wherever the tests run.
#include "base/vendor_library.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(VendorLibrary, CallsAFunctionOfTheFirstLibraryThatIsThere) {
  const Result<VendorLibrary> library =
      VendorLibrary::open({"libno_such_vendor.so.1", "libm.so.6"});
  ASSERT_TRUE(library.ok()) << format(library.error());
  double (*square_root)(double) = nullptr;
  ASSERT_TRUE(library->find("sqrt", square_root).ok());
  EXPECT_EQ(square_root(9.0), 3.0);
}

TEST(VendorLibrary, NamesTheSymbolThatIsMissingAndItsLibrary) {
  const Result<VendorLibrary> library = VendorLibrary::open({"libm.so.6"});
  ASSERT_TRUE(library.ok()) << format(library.error());
  void (*function)() = nullptr;
  const Result<Done> found = library->find("no_such_function", function);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message(), "libm.so.6 lacks no_such_function");
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(library->find_optional<void()>("no_such_function"), nullptr);
}

TEST(VendorLibrary, NamesEveryLibraryThatCannotBeLoaded) {
  const Result<VendorLibrary> library =
      VendorLibrary::open({"libno_such_vendor.so.1", "libno_such_vendor.so"});
  ASSERT_FALSE(library.ok());
  const std::string message = library.error().message();
  EXPECT_NE(message.find("libno_such_vendor.so.1:"), std::string::npos) << message;
  EXPECT_NE(message.find("libno_such_vendor.so:"), std::string::npos) << message;
}

}  // namespace
}  // namespace weft
