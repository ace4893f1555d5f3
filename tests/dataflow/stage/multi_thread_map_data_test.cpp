#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(MultiThreadMapData, maps_in_order_with_the_threads_asked_for) {
  const DataFlow flow = make_flow(
      list({item("Counting", 4),
            item("MultiThreadMapData",
                 {{"map", item("Scale", {{"scale", 2}})}, {"component", "k"}, {"num_thread", 5}})}));
  EXPECT_EQ(flow.settings().workers.count, 5);
  EXPECT_EQ(first_component(flow), (std::vector<int64_t>{0, 2, 4, 6}));
}

TEST(MultiThreadMapData, leaves_the_flows_threads_alone_by_default) {
  const ConfigNode map =
      item("MultiThreadMapData", {{"map", item("Scale", {{"scale", 2}})}, {"component", "k"}});
  const DataFlow flow =
      make_flow(ConfigNode::map({{"flow", list({item("Counting", 4), map})}, {"workers", 3}}));
  EXPECT_EQ(flow.settings().workers.count, 3);
}

}  // namespace
}  // namespace tpack
