#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(FakeData, has_the_shapes_types_and_domain_asked_for) {
  const DataFlow flow =
      yaml_flow("[FakeData: {shapes: [[50], [8, 8, 3]], dtype: [float32, uint8], domain: [3, 9]}]");
  EXPECT_EQ(flow.spec().str(), "component_0 float32 [50], component_1 uint8 [8, 8, 3]");
  EXPECT_TRUE(flow.spec()[1].is_image);
  Datapoint d = first_sample(flow);
  double least = 9;
  double most = 3;
  for (int64_t i = 0; i < 50; ++i) {
    least = std::min(least, d.tensor(0).at(i));
    most = std::max(most, d.tensor(0).at(i));
  }
  EXPECT_GE(least, 3);
  EXPECT_LT(most, 9);
  EXPECT_GT(most - least, 3);
}

TEST(FakeData, not_random_means_always_the_same) {
  const auto samples = [](const std::string& random) {
    return first_component(yaml_flow(
        "[FakeData: {shapes: [[1]], dtype: [int64], size: 5, domain: [0, 1000000], random: " + random +
        "}]"));
  };
  EXPECT_EQ(samples("false"), Integers(5, samples("false")[0]));
  EXPECT_NE(samples("true"), Integers(5, samples("true")[0]));
}

TEST(FakeData, lists_must_fit_together) {
  EXPECT_TRUE(fails([] { yaml_flow("[FakeData: {shapes: [[1], [1], [1]], dtype: [int32, int32]}]"); },
                    {":1:12: FakeData: 'dtype' has 2 entries for 3 shapes"}));
}

}  // namespace
}  // namespace tpack
