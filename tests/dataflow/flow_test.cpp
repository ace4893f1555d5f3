#include "dataflow/flow.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(Cursor, skips_as_many_as_there_are) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = yaml_flow("[" + source + ": 5]");
    const auto cursor = flow.open({});
    EXPECT_EQ(cursor->skip(3), 3) << source;
    Datapoint d;
    ASSERT_TRUE(cursor->next(d));
    EXPECT_EQ(d.tensor(0).at(0), 3) << source;
    EXPECT_EQ(cursor->skip(9), 1) << source;
    EXPECT_FALSE(cursor->next(d)) << source;
  }
}

TEST(Cursor, over_places_leaves_out_what_was_dropped) {
  const DataFlow flow = yaml_flow("[Counting: 7, Picky: {drop_every: 2}]");
  EXPECT_EQ(first_component(flow), (Integers{1, 3, 5}));
  EXPECT_EQ(flow.open({})->skip(2), 2);
}

TEST(Flow, says_how_it_seeks) {
  EXPECT_EQ(yaml_flow("[Counting: 7, BatchData: 2]").seek(), Seek::kExact);
  EXPECT_EQ(yaml_flow("[Counting: 7, Picky: {drop_every: 2}]").seek(), Seek::kReplayReads);
  EXPECT_EQ(yaml_flow("[CountingInOrder: 7]").seek(), Seek::kReplayReads);
  EXPECT_STREQ(name_of(Seek::kReplayReads), "replay_reads");
}

}  // namespace
}  // namespace tpack
