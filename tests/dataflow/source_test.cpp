#include "dataflow/source.h"

#include <algorithm>

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(RandomAccessSource, a_shuffled_pass_has_each_sample_once) {
  const DataFlow flow = make_flow(list({item("Counting", {{"size", 50}, {"shuffle", true}})}));
  auto order = first_component(flow, {.seed = 1});
  EXPECT_NE(order, first_component(flow, {.seed = 1, .pass = 1}));
  EXPECT_NE(order, first_component(flow, {.seed = 2}));
  EXPECT_EQ(order, first_component(flow, {.seed = 1}));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(RandomAccessSource, the_id_of_a_sample_is_its_index_in_the_source) {
  const DataFlow flow = make_flow(list({item("Counting", {{"size", 50}, {"shuffle", true}})}));
  const auto cursor = flow.open({.seed = 1, .pass = 3});
  for (Datapoint d; cursor->next(d);) {
    EXPECT_EQ(d.id(), (SampleId{3, *d.tensor(0).data<int64_t>(), 0}));
  }
}

TEST(SequentialSource, numbers_its_samples) {
  const DataFlow flow = make_flow(list({item("CountingInOrder", 5)}));
  const auto cursor = flow.open({.pass = 2, .position = 3});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  EXPECT_EQ(d.id(), (SampleId{2, 3, 0}));
}

}  // namespace
}  // namespace tpack
