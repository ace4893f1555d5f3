#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(FakeData, has_the_shapes_types_and_domain_asked_for) {
  const DataFlow flow = make_flow(list({item("FakeData", {{"shapes", list({list({50}), list({8, 8, 3})})},
                                                          {"dtype", list({"float32", "uint8"})},
                                                          {"domain", list({3, 9})}})}));
  EXPECT_EQ(flow.spec().str(), "component_0 float32 [50], component_1 uint8 [8, 8, 3]");
  EXPECT_TRUE(flow.spec()[1].is_image);
  Datapoint d;
  ASSERT_TRUE(flow.open({})->next(d));
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
  const auto samples = [](bool random) {
    return first_component(make_flow(list({item("FakeData", {{"shapes", list({list({1})})},
                                                             {"dtype", list({"int64"})},
                                                             {"size", 5},
                                                             {"random", random},
                                                             {"domain", list({0, 1000000})}})})));
  };
  EXPECT_EQ(samples(false), std::vector<int64_t>(5, samples(false)[0]));
  EXPECT_NE(samples(true), std::vector<int64_t>(5, samples(true)[0]));
}

TEST(FakeData, lists_must_fit_together) {
  EXPECT_EQ(error_of([] {
              make_flow(list({item("FakeData", {{"shapes", list({list({1}), list({1}), list({1})})},
                                                {"dtype", list({"int32", "int32"})}})}));
            }),
            "FakeData: 'dtype' has 2 entries for 3 shapes; write one for all or one for each");
}

}  // namespace
}  // namespace tpack
