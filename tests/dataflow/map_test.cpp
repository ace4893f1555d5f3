#include "dataflow/map.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

Numbers random_of(const std::string& flow) {
  Numbers all;
  for (const Numbers& sample : samples_of(yaml_flow(flow), {.seed = 4})) all.push_back(sample[1]);
  return all;
}

TEST(MapFlow, randomness_does_not_depend_on_what_comes_before_or_after) {
  const auto alone = random_of("[Counting: 6, Picky]");
  EXPECT_EQ(
      alone,
      random_of("[Counting: 6, PrintData: {num: 0}, FixedSizeData: {size: 6}, Picky, PrintData: {num: 0}]"));
  const auto second = random_of("[Counting: 6, Picky, Picky]");
  EXPECT_NE(alone, second) << "two maps of one type draw other numbers";
}

TEST(MapFlow, dropping_makes_the_size_unknown) {
  const DataFlow flow = yaml_flow("[Counting: 6, Picky: {drop_every: 2}]");
  EXPECT_FALSE(flow.size().has_value());
  EXPECT_EQ(flow.flow()->access(), Access::kFiltered);
  EXPECT_EQ(yaml_flow("[Counting: 6, Picky]").size(), 6);
}

}  // namespace
}  // namespace tpack
