#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(PrefetchData, sets_workers_and_prefetching_and_changes_no_data) {
  for (const std::string name :
       {"PrefetchData", "PrefetchDataZMQ", "MultiProcessRunnerZMQ", "MultiThreadRunner"}) {
    const DataFlow flow = yaml_flow("[Counting: 4, " + name + ": {num_prefetch: 7, num_proc: 2}]");
    EXPECT_EQ(flow.settings().prefetch, 7) << name;
    EXPECT_EQ(flow.settings().workers.count, 2) << name;
    EXPECT_EQ(first_component(flow), (Integers{0, 1, 2, 3}));
  }
}

TEST(PrefetchData, leaves_alone_what_it_does_not_name) {
  const DataFlow flow = yaml_flow("[Counting: 4, PrefetchData: {num_proc: 2}]");
  EXPECT_EQ(flow.settings().prefetch, FlowSettings{}.prefetch);
}

TEST(MultiThreadMapData, maps_in_order_with_the_threads_asked_for) {
  const DataFlow flow =
      yaml_flow("[Counting: 4, MultiThreadMapData: {map: {Scale: {scale: 2}}, component: k, num_thread: 5}]");
  EXPECT_EQ(flow.settings().workers.count, 5);
  EXPECT_EQ(first_component(flow), (Integers{0, 2, 4, 6}));
}

TEST(MultiThreadMapData, leaves_the_flows_threads_alone_by_default) {
  const DataFlow flow = yaml_flow(
      "{flow: [Counting: 4, MultiThreadMapData: {map: {Scale: {scale: 2}}, component: k}], workers: 3}");
  EXPECT_EQ(flow.settings().workers.count, 3);
}

}  // namespace
}  // namespace tpack
