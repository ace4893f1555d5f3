#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(SelectComponent, keeps_and_reorders) {
  const DataFlow flow = make_flow(list({item("Counting", 3), item("SelectComponent", list({1, "k"}))}));
  EXPECT_EQ(flow.spec().str(), "pass int64 [], k int64 []");
  Datapoint d;
  ASSERT_TRUE(flow.open({.pass = 7, .position = 2})->next(d));
  EXPECT_EQ(d.tensor(0).at(0), 7);
  EXPECT_EQ(d.tensor(1).at(0), 2);
}

TEST(SelectComponent, reordered_components_reach_their_own_batch) {
  const DataFlow flow = make_flow(list({item("Counting", 4), item("SelectComponent", list({"pass", "k"})),
                                        item("BatchData", {{"batch_size", 4}})}));
  const auto stream = flow.stream({.workers = 2, .slots = 2, .position = {9, 0}});
  const auto batch = stream->next();
  EXPECT_TRUE(bit_equal(batch->tensor(0), Tensor::of<int64_t>({4}, {9, 9, 9, 9})));
  EXPECT_TRUE(bit_equal(batch->tensor(1), Tensor::of<int64_t>({4}, {0, 1, 2, 3})));
}

TEST(SelectComponent, rejects_a_component_twice) {
  EXPECT_EQ(error_of([] {
              make_flow(list({item("Counting", 3), item("SelectComponent", list({"k", 0}))}));
            }),
            "map SelectComponent: 'k' is named twice");
}

}  // namespace
}  // namespace tpack
