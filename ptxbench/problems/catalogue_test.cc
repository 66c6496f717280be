// SPDX-License-Identifier: Apache-2.0

// Reads the project's own task folder: tests run in the root of the source tree.
#include "ptxbench/problems/catalogue.h"

#include <set>

#include <gtest/gtest.h>

#include "ptxbench/problems/comparison.h"
#include "ptxbench/problems/reference.h"

namespace weft::problems {
namespace {

TEST(Catalogue, HoldsEveryTaskOfTheFamilies) {
  const Result<Catalogue> catalogue = Catalogue::open("problems");
  ASSERT_TRUE(catalogue.ok()) << format(catalogue.error());
  EXPECT_EQ(catalogue->names().size(), 17u + (8 + 6 + 4) + (5 + 2 + 8) + (6 + 3 + 2) + 6);
}

TEST(Catalogue, EveryTaskResolvesAndHasAReferenceAndTolerances) {
  const Result<Catalogue> catalogue = Catalogue::open("problems");
  std::set<std::string> uuids;
  size_t workloads_seen = 0;
  for (const std::string& name : catalogue->names()) {
    const Result<Definition> definition = catalogue->definition(name);
    ASSERT_TRUE(definition.ok()) << format(definition.error());
    const auto workloads = catalogue->workloads(*definition);
    ASSERT_TRUE(workloads.ok()) << format(workloads.error());
    for (const Workload& workload : *workloads) {
      uuids.insert(workload.uuid);
      ++workloads_seen;
      const Result<Task> task = resolve(*definition, workload, {});
      ASSERT_TRUE(task.ok()) << format(task.error());
      EXPECT_TRUE(reference_cost(*task).has_value()) << name;
      for (const TensorSpec& output : definition->outputs)
        EXPECT_TRUE(tolerance_of(*definition, output).ok());
    }
    for (const char* key : {"layout", "alignment", "accumulate", "inputs"}) {
      EXPECT_NE(definition->tag(key), "") << name << " does not state " << key;
    }
    bool masks = definition->tag("masked") == "none";
    for (const TensorSpec& output : definition->outputs)
      masks = masks || definition->tag("masked." + output.name) != "";
    EXPECT_TRUE(masks) << name << " does not state what is masked";
  }
  EXPECT_EQ(uuids.size(), workloads_seen);
}

TEST(Catalogue, SuggestsNearNames) {
  const Result<Catalogue> catalogue = Catalogue::open("problems");
  const Result<Task> task = catalogue->task("gemm_n7168_k512", "", {});
  ASSERT_FALSE(task.ok());
  EXPECT_NE(format(task.error()).find("gemm_n7168_k5120"), std::string::npos);
}

TEST(Catalogue, FindsWorkloadsByTheBeginningOfTheirUuid) {
  const Result<Catalogue> catalogue = Catalogue::open("problems");
  const auto all = *catalogue->workloads(*catalogue->definition("gemm_n7168_k5120"));
  const Result<Task> task = catalogue->task("gemm_n7168_k5120", all[2].uuid.substr(0, 8), {});
  ASSERT_TRUE(task.ok()) << format(task.error());
  EXPECT_EQ(task->workload.uuid, all[2].uuid);
  EXPECT_FALSE(catalogue->task("gemm_n7168_k5120", "zzzz", {}).ok());
  EXPECT_EQ(catalogue->task("gemm_n7168_k5120", "", {})->axis("M"), 8192);
}

TEST(Catalogue, RefusesAFolderThatIsNone) {
  EXPECT_FALSE(Catalogue::open("base").ok());
  EXPECT_FALSE(Catalogue::open("does/not/exist").ok());
}

}  // namespace
}  // namespace weft::problems
