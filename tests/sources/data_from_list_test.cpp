#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

std::string listed(const std::string& samples) {
  return "[DataFromList: {shuffle: false, samples: " + samples + "}]";
}

TEST(DataFromList, has_the_samples_of_the_config) {
  const DataFlow flow = yaml_flow(listed("[{x: [1, 2.5], label: 3}, {label: 4, x: [0, -1]}]"));
  EXPECT_EQ(flow.spec().str(), "x float32 [2], label int32 []");
  EXPECT_EQ(samples_of(flow), (Rows{{1, 2.5, 3}, {0, -1, 4}}));
}

TEST(DataFromList, integers_beyond_int32_are_floats) {
  EXPECT_EQ(yaml_flow(listed("[{x: 3000000000}]")).spec().str(), "x float32 []");
  EXPECT_EQ(yaml_flow(listed("[{x: 2147483647}]")).spec().str(), "x int32 []");
}

TEST(DataFromList, lists_of_different_lengths_have_an_unknown_size) {
  EXPECT_TRUE(fails([&] { yaml_flow(listed("[{x: [[1, 2]]}, {x: []}]")); }, {"another number of axes"}));
  EXPECT_EQ(yaml_flow(listed("[{x: [[1, 2]]}, {x: [[3, 4], [5, 6]]}]")).spec().str(), "x int32 [?, 2]");
}

TEST(DataFromList, shuffles_by_default) {
  std::string samples = "[";
  for (int i = 0; i < 30; ++i) samples += (i == 0 ? "" : ", ") + ("{k: " + std::to_string(i) + "}");
  const DataFlow flow = yaml_flow("[DataFromList: " + samples + "]]");
  const Integers order = first_component(flow);
  EXPECT_NE(order, first_component(flow, {.pass = 1}));
  EXPECT_THAT(first_component(flow, {.pass = 1}), testing::UnorderedElementsAreArray(order));
}

const live::Fields kDataFromList("source", "DataFromList", {.values = {{"samples", "[{x: 1}, {x: 2}]"}}});

TEST(DataFromList, mistakes_have_places) {
  expect_errors([](const std::string& samples) { yaml_flow(listed(samples)); },
                {{"[]", {"expected a list of samples"}},
                 {"{x: 1}", {"expected a list of samples"}},
                 {"[1]", {"a sample is a map"}},
                 {"[{x: 1}, {y: 1}]", {"sample 2 has no 'x'"}},
                 {"[{x: 1}, {x: 1, y: 1}]", {"sample 2 has 'y'", "only x"}},
                 {"[{x: cat}]", {"found", "cat", "class numbers"}},
                 {"[{x: [[1], [1, 2]]}]", {"different lengths"}},
                 {"[{x: [1, [2]]}]", {"different lengths"}},
                 {"[{x: [[1], 2]}]", {"expected a number"}}});
}

}  // namespace
}  // namespace tpack
