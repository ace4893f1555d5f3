#include "dataflow/repeated_points.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(RepeatedPoints, once_is_the_flow_itself) {
  const FlowPtr flow = yaml_flow("[Counting: 3]").flow();
  EXPECT_EQ(repeated_points(flow, 1), flow);
}

TEST(RepeatedPoints, copies_have_different_ids) {
  const FlowPtr flow = repeated_points(yaml_flow("[Counting: 3]").flow(), 3);
  Datapoint d;
  ASSERT_TRUE(flow->get({1, 2, 5}, 7, d));
  EXPECT_EQ(d.id(), (SampleId{2, 2, 16}));
}

TEST(CopyDatapoint, shares_no_memory) {
  Datapoint from;
  from.resize(1);
  from.set_tensor(0, Tensor::scalar<int32_t>(4));
  from.set_id({1, 2, 3});
  Datapoint to;
  copy_datapoint(from, to);
  *from.tensor(0).data<int32_t>() = 5;
  EXPECT_EQ(to.tensor(0).at(0), 4);
  EXPECT_EQ(to.id(), from.id());
}

}  // namespace
}  // namespace tpack
