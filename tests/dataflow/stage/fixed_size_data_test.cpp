#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(FixedSizeData, the_next_pass_continues_where_the_last_one_ended) {
  const DataFlow flow = make_flow(list({item("Counting", 5), item("FixedSizeData", {{"size", 3}})}));
  EXPECT_EQ(first_component(flow, {.pass = 0}), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(first_component(flow, {.pass = 1}), (std::vector<int64_t>{3, 4, 0}));
  EXPECT_EQ(first_component(flow, {.pass = 2}), (std::vector<int64_t>{1, 2, 3}));
}

TEST(FixedSizeData, without_state_each_pass_starts_over) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow =
        make_flow(list({item(source, 3), item("FixedSizeData", {{"size", 5}, {"keep_state", false}})}));
    EXPECT_EQ(first_component(flow, {.pass = 1}), (std::vector<int64_t>{0, 1, 2, 0, 1})) << source;
    EXPECT_EQ(flow.size(), 5);
  }
}

TEST(FixedSizeData, state_needs_places) {
  EXPECT_THAT(error_of([] {
                make_flow(list({item("CountingInOrder", 3), item("FixedSizeData", {{"size", 5}})}));
              }),
              testing::HasSubstr("set keep_state: false"));
}

const live::Fields kFixedSizeData("stage", "FixedSizeData", {.base = "{size: 3}"});

}  // namespace
}  // namespace tpack
