#include "dataflow/map/map_data.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(MapData, changes_one_component_and_its_spec) {
  const DataFlow flow = make_flow(list(
      {item("Counting", 4), item("MapData", {{"map", item("Scale", {{"scale", 10}})}, {"component", "k"}})}));
  EXPECT_EQ(flow.spec().str(), "k float32 [], pass int64 []");
  EXPECT_EQ(first_component(flow), (std::vector<int64_t>{0, 10, 20, 30}));
}

TEST(MapData, needs_a_function) {
  EXPECT_EQ(error_of([] {
              make_flow(list({item("Counting", 4), item("MapData", {{"component", "k"}})}));
            }),
            "map MapData: 'map' is missing (the function, such as Scale: {scale: 0.00390625})");
  EXPECT_EQ(error_of([] {
              make_flow(list({item("Counting", 4), item("MapData", {{"map", item("Scal", {})}})}));
            }),
            "unknown tensor map 'Scal'; did you mean 'Scale'?");
}

}  // namespace
}  // namespace tpack
