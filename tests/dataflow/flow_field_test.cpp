#include "dataflow/flow_field.h"

#include "dataflow/flow_helpers.h"
#include "dataflow/flow_settings.h"
#include "system/machine.h"

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

TEST(WorkerCount, auto_means_the_processors_there_are) {
  EXPECT_EQ(WorkerCount{}.resolved(), available_processors());
  EXPECT_EQ(WorkerCount{3}.resolved(), 3U);
  EXPECT_EQ(Codec<WorkerCount>::dump({}).text(), "auto");
}

TEST(WorkerCount, is_auto_or_a_number_of_threads) {
  Diagnostics errors;
  const Check any;
  Reader reader("'workers' of the flow", any, errors);
  EXPECT_EQ(Codec<WorkerCount>::parse("auto", reader)->count, 0);
  EXPECT_EQ(Codec<WorkerCount>::parse(4, reader)->count, 4);
  EXPECT_FALSE(Codec<WorkerCount>::parse(0, reader).has_value());
  EXPECT_TRUE(fails([&] { errors.throw_if_any(); }, {"'workers' of the flow: ", "from 1 to 1024", "0"}));
}

}  // namespace
}  // namespace tpack
