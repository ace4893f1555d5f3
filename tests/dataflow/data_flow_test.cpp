#include "dataflow/data_flow.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(DataFlow, shards_of_a_pass_have_each_item_once) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = make_flow(list({item(source, 11)}));
    std::vector<int64_t> seen(11);
    for (int64_t shard = 0; shard < 3; ++shard) {
      for (const int64_t k : first_component(flow, {.shard = shard, .shard_count = 3})) {
        EXPECT_EQ(k % 3, shard);
        ++seen[static_cast<size_t>(k)];
      }
    }
    EXPECT_EQ(seen, std::vector<int64_t>(11, 1)) << source;
  }
}

TEST(DataFlow, a_pass_can_begin_anywhere) {
  const DataFlow flow = make_flow(list({item("Counting", 11)}));
  EXPECT_EQ(first_component(flow, {.position = 8}), (std::vector<int64_t>{8, 9, 10}));
  EXPECT_EQ(first_component(flow, {.shard = 0, .shard_count = 3, .position = 7}), (std::vector<int64_t>{9}));
}

TEST(DataFlow, has_the_settings_of_its_config) {
  const DataFlow flow = make_flow(ConfigNode::map(
      {{"flow", list({item("Counting", 4)})}, {"workers", 3}, {"prefetch", 5}, {"on_error", "skip"}}));
  EXPECT_EQ(flow.settings().workers.count, 3);
  EXPECT_EQ(flow.stream({})->stats().slots, 6U);
  EXPECT_EQ(flow.settings().on_error, OnError::kSkip);
  EXPECT_FALSE(flow.batch_size().has_value());
}

}  // namespace
}  // namespace tpack
