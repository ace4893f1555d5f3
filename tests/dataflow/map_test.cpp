#include "dataflow/map.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

std::vector<double> random_of(const ConfigNode& flow) {
  std::vector<double> all;
  const DataFlow made = make_flow(flow);
  const auto cursor = made.open({.seed = 4});
  for (Datapoint d; cursor->next(d);) all.push_back(d.tensor(1).at(0));
  return all;
}

TEST(MapFlow, randomness_does_not_depend_on_what_comes_before_or_after) {
  const auto alone = random_of(list({item("Counting", 6), item("Picky", {})}));
  const auto between = random_of(
      list({item("Counting", 6), item("PrintData", {{"num", 0}}), item("FixedSizeData", {{"size", 6}}),
            item("Picky", {}), item("PrintData", {{"num", 0}})}));
  EXPECT_EQ(alone, between);
  const auto second = random_of(list({item("Counting", 6), item("Picky", {}), item("Picky", {})}));
  EXPECT_NE(alone, second) << "two maps of one type draw other numbers";
}

TEST(MapFlow, dropping_makes_the_size_unknown) {
  const DataFlow flow = make_flow(list({item("Counting", 6), item("Picky", {{"drop_every", 2}})}));
  EXPECT_FALSE(flow.size().has_value());
  EXPECT_EQ(flow.flow()->access(), Access::kFiltered);
  EXPECT_EQ(make_flow(list({item("Counting", 6), item("Picky", {})})).size(), 6);
}

}  // namespace
}  // namespace tpack
