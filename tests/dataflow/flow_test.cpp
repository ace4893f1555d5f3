#include "dataflow/flow.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(Cursor, skips_as_many_as_there_are) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = make_flow(list({item(source, 5)}));
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
  const DataFlow flow = make_flow(list({item("Counting", 7), item("Picky", {{"drop_every", 2}})}));
  EXPECT_EQ(first_component(flow), (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(flow.open({})->skip(2), 2);
}

TEST(Flow, says_how_it_seeks) {
  const auto seek = [](std::vector<ConfigNode> items) { return make_flow(list(std::move(items))).seek(); };
  EXPECT_EQ(seek({item("Counting", 7), item("BatchData", {{"batch_size", 2}})}), Seek::kExact);
  EXPECT_EQ(seek({item("Counting", 7), item("Picky", {{"drop_every", 2}})}), Seek::kReplayReads);
  EXPECT_EQ(seek({item("CountingInOrder", 7)}), Seek::kReplayReads);
  EXPECT_STREQ(name_of(Seek::kReplayReads), "replay_reads");
}

}  // namespace
}  // namespace tpack
