#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(RepeatedDataPoint, gives_each_item_several_times_in_a_row) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = yaml_flow("[" + source + ": 3, RepeatedDataPoint: 2]");
    EXPECT_EQ(first_component(flow), (Integers{0, 0, 1, 1, 2, 2})) << source;
    for (int64_t at = 0; at <= 6; ++at) {
      const Integers all = {0, 0, 1, 1, 2, 2};
      EXPECT_EQ(first_component(flow, {.position = at}), Integers(all.begin() + at, all.end())) << source;
    }
  }
  EXPECT_EQ(yaml_flow("[Counting: 3, RepeatedDataPoint: 2]").size(), 6);
}

TEST(RepeatedDataPoint, maps_after_it_draw_for_each_copy_and_maps_before_it_do_not) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const Rows after = samples_of(yaml_flow("[" + source + ": 3, RepeatedDataPoint: 2, Picky]"));
    EXPECT_NE(after[0][1], after[1][1]) << source;
    const Rows before = samples_of(yaml_flow("[" + source + ": 3, Picky, RepeatedDataPoint: 2]"));
    EXPECT_EQ(before[0][1], before[1][1]) << source;
    EXPECT_NE(before[1][1], before[2][1]) << source;
  }
}

TEST(RepeatedDataPoint, keeps_the_order_of_a_source_that_shuffles) {
  const Integers once = first_component(yaml_flow("[Counting: {size: 20, shuffle: true}]"), {.seed = 4});
  const Integers twice =
      first_component(yaml_flow("[Counting: {size: 20, shuffle: true}, RepeatedDataPoint: 2]"), {.seed = 4});
  ASSERT_EQ(twice.size(), 40U);
  for (size_t i = 0; i < twice.size(); ++i) EXPECT_EQ(twice[i], once[i / 2]);
}

TEST(RepeatedDataPoint, of_an_endless_flow_has_no_end) {
  EXPECT_EQ(yaml_flow("[Counting: 3, RepeatedData, RepeatedDataPoint: 2]").size(), kEndless);
}

}  // namespace
}  // namespace tpack
