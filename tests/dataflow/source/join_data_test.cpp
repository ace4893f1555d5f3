#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(JoinData, puts_components_side_by_side_until_the_shortest_ends) {
  for (const std::string second : {"Counting", "CountingInOrder"}) {
    const DataFlow flow =
        make_flow(list({item("JoinData", list({list({item(second, 5), item("SelectComponent", list({"k"}))}),
                                               list({fake_numbers(9)})}))}));
    EXPECT_EQ(flow.spec().str(), "k int64 [], x int32 [2]");
    EXPECT_EQ(first_component(flow), (std::vector<int64_t>{0, 1, 2, 3, 4})) << second;
    EXPECT_EQ(flow.size().has_value(), second == "Counting");
  }
}

TEST(JoinData, flows_of_one_kind_draw_different_numbers) {
  const ConfigNode numbers = item("FakeData", {{"shapes", list({list({})})}, {"names", list({"a"})}});
  const ConfigNode others = item("FakeData", {{"shapes", list({list({})})}, {"names", list({"b"})}});
  const DataFlow flow = make_flow(list({item("JoinData", list({list({numbers}), list({others})}))}));
  Datapoint d;
  ASSERT_TRUE(flow.open({.seed = 1})->next(d));
  EXPECT_NE(d.tensor(0).at(0), d.tensor(1).at(0));
}

TEST(JoinData, two_components_of_one_name_are_refused) {
  EXPECT_EQ(error_of([] {
              make_flow(list({item("JoinData", list({list({fake_numbers(3)}), list({fake_numbers(3)})}))}));
            }),
            "JoinData: two of its flows have a component 'x'; leave one out with SelectComponent");
}

}  // namespace
}  // namespace tpack
