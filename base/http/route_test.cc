// SPDX-License-Identifier: Apache-2.0

// Expected values are read off the patterns by hand.
#include "base/http/route.h"

#include <gtest/gtest.h>

namespace weft::http {
namespace {

TEST(Match, TakesWholePartsOnly) {
  EXPECT_TRUE(match("/", "/"));
  EXPECT_TRUE(match("/health", "/health"));
  EXPECT_FALSE(match("/health", "/healthy"));
  EXPECT_FALSE(match("/health", "/"));
  EXPECT_FALSE(match("/", "/health"));
  EXPECT_FALSE(match("/tasks/{id}", "/tasks/"));
  EXPECT_FALSE(match("/tasks/{id}", "/tasks/a/b"));
}

TEST(Match, GivesWhatStandsAtTheNames) {
  const auto parts = match("/definitions/{name}/workloads", "/definitions/gemm/workloads");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->at("name"), "gemm");
}

TEST(Dispatch, TellsAWrongMethodFromAWrongPath) {
  const std::vector<Route> routes = {{"GET", "/a/{x}", [](const Request& request) {
                                        return Response{.status = 200,
                                                        .body = request.parts.at("x")};
                                      }}};
  Request request{.method = "GET", .path = "/a/7"};
  EXPECT_EQ(dispatch(routes, request).body, "7");
  request.method = "POST";
  EXPECT_EQ(dispatch(routes, request).status, 405);
  request.path = "/b";
  EXPECT_EQ(dispatch(routes, request).status, 404);
  EXPECT_EQ(dispatch(routes, request).body, R"({"detail":"Not Found"})");
}

}  // namespace
}  // namespace weft::http
