#include <set>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(RenderedShapes, have_a_class_for_each_pixel) {
  const DataFlow flow = yaml_flow("[RenderedShapes: {size: 50}]");
  EXPECT_EQ(flow.spec().str(), "image uint8 [64, 64, 3], mask uint8 [64, 64]");
  std::set<int> classes;
  const auto cursor = flow.open({.seed = 1});
  Datapoint d;
  while (cursor->next(d)) {
    for (const uint8_t value : d.tensor(1).span<uint8_t>()) classes.insert(value);
  }
  EXPECT_THAT(classes, testing::ElementsAre(0, 1, 2, 3));
}

TEST(RenderedShapes, of_the_test_are_always_the_same) {
  const auto first = [](const std::string& split, uint64_t seed) {
    return first_sample(yaml_flow("[RenderedShapes: {split: " + split + "}]"), {.seed = seed})
        .to_tensor(0)
        .clone();
  };
  EXPECT_TRUE(bit_equal(first("test", 1), first("test", 2)));
  EXPECT_FALSE(bit_equal(first("train", 1), first("train", 2)));
}

const live::Fields kRenderedShapes("source", "RenderedShapes", {.values = {{"resolution", "32"}}});

}  // namespace
}  // namespace tpack
