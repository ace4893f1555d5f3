#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(PrefetchData, sets_workers_and_prefetching_and_changes_no_data) {
  for (const std::string name :
       {"PrefetchData", "PrefetchDataZMQ", "MultiProcessRunnerZMQ", "MultiThreadRunner"}) {
    const DataFlow flow =
        make_flow(list({item("Counting", 4), item(name, {{"num_prefetch", 7}, {"num_proc", 2}})}));
    EXPECT_EQ(flow.settings().prefetch, 7) << name;
    EXPECT_EQ(flow.settings().workers.count, 2) << name;
    EXPECT_EQ(first_component(flow), (std::vector<int64_t>{0, 1, 2, 3}));
  }
}

TEST(PrefetchData, leaves_alone_what_it_does_not_name) {
  const DataFlow flow = make_flow(list({item("Counting", 4), item("PrefetchData", {{"num_proc", 2}})}));
  EXPECT_EQ(flow.settings().prefetch, FlowSettings{}.prefetch);
}

}  // namespace
}  // namespace tpack
