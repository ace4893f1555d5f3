#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(BatchData, stacks_samples_in_order) {
  const DataFlow flow = make_flow(list({item("Counting", 6), item("BatchData", {{"batch_size", 3}})}));
  Datapoint d;
  ASSERT_TRUE(flow.open({.position = 1})->next(d));
  EXPECT_TRUE(bit_equal(d.tensor(0), Tensor::of<int64_t>({3}, {3, 4, 5})));
  EXPECT_EQ(d.id(), (SampleId{0, 1, 0}));
}

TEST(BatchData, checks_its_size) {
  EXPECT_EQ(error_of([] {
              make_flow(list({item("Counting", 6), item("BatchData", {{"batch_size", 0}})}));
            }),
            "'batch_size' of stage BatchData is 0; must be from 1 to 16777216");
}

}  // namespace
}  // namespace tpack
