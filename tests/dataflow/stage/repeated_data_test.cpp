#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(RepeatedData, gives_the_flow_several_times) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = make_flow(list({item(source, 3), item("RepeatedData", {{"num", 2}})}));
    EXPECT_EQ(first_component(flow), (std::vector<int64_t>{0, 1, 2, 0, 1, 2})) << source;
    EXPECT_EQ(first_component(flow, {.position = 4}), (std::vector<int64_t>{1, 2})) << source;
  }
}

TEST(RepeatedData, repetitions_are_shuffled_and_augmented_differently) {
  const DataFlow flow = make_flow(list({item("Counting", {{"size", 30}, {"shuffle", true}}),
                                        item("Picky", {}), item("RepeatedData", {{"num", 2}})}));
  const auto all = first_component(flow, {.seed = 1});
  EXPECT_NE(std::vector<int64_t>(all.begin(), all.begin() + 30),
            std::vector<int64_t>(all.begin() + 30, all.end()));
}

TEST(RepeatedData, without_end_has_no_end) {
  const DataFlow flow = make_flow(
      list({item("Counting", 3), item("RepeatedData", {}), item("BatchData", {{"batch_size", 2}})}));
  EXPECT_EQ(flow.size(), kEndless);
  const auto stream = flow.stream({.workers = 2, .slots = 2, .position = {0, 1000001}});
  EXPECT_TRUE(bit_equal(stream->next()->tensor(0), Tensor::of<int64_t>({2}, {2000002 % 3, 2000003 % 3})));
  EXPECT_EQ(stream->position(), (DataPosition{0, 1000002}));
}

TEST(RepeatedData, rejects_zero_times_and_nothing_to_repeat) {
  EXPECT_EQ(error_of([] {
              make_flow(list({item("Counting", 3), item("RepeatedData", {{"num", 0}})}));
            }),
            "RepeatedData: 'num' is 0; must be at least 1, or -1 to repeat forever");
  const DataFlow empty = make_flow(list({item("CountingInOrder", 0), item("RepeatedData", {})}));
  Datapoint d;
  EXPECT_EQ(error_of([&] { empty.open({})->next(d); }), "RepeatedData: the flow before it is empty");
}

}  // namespace
}  // namespace tpack
