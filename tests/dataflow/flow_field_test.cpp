#include "dataflow/flow_field.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(FlowField, writes_every_parameter_back) {
  const ConfigNode flow = list({item("Counting", 7), item("BatchData", {{"batch_size", 2}})});
  EXPECT_EQ(
      to_json(Codec<FlowField>::dump({flow})),
      R"([{"Counting": {"size": 7, "shuffle": false}}, {"BatchData": {"batch_size": 2, "remainder": false}}])");
  EXPECT_EQ(to_json(Codec<FlowField>::dump({"train"})), R"("train")");
}

TEST(FlowField, nested_flows_are_written_back_too) {
  const ConfigNode flow = list({item("JoinData", {{"flows", list({list({item("Counting", 7)}), "other"})}})});
  EXPECT_EQ(
      to_json(Codec<FlowField>::dump({flow})),
      R"([{"JoinData": {"flows": [[{"Counting": {"size": 7, "shuffle": false}}], "other"], "shortest": false}}])");
}

TEST(FlowField, knows_the_kind_of_a_component) {
  EXPECT_STREQ(kind_of_flow_component("Mnist"), "source");
  EXPECT_STREQ(kind_of_flow_component("MapDataComponent"), "map");
  EXPECT_STREQ(kind_of_flow_component("PrefetchDataZMQ"), "stage");
  EXPECT_EQ(kind_of_flow_component("Flip"), nullptr);
}

TEST(FlowField, whole_flows_are_no_parts_of_others) {
  const FlowScope flows = {
      {"a", list({item("Counting", 3)})},
      {"b", list({item("Counting", 3)})},
      {"c", list({item("Counting", 3)})},
      {"other", ConfigNode::map({{"flow", "c"}})},
      {"train", list({item("JoinData", {{"flows", list({"a", list({item("JoinData", list({"b"}))})})}})})},
      {"check", list({item("Counting", 3), item("PrintData", "train")})}};
  EXPECT_EQ(whole_flows(flows), (Texts{"train", "check", "other"}));
}

}  // namespace
}  // namespace tpack
