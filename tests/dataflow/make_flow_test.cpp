#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

std::string mistake(const ConfigNode& node, const FlowScope& scope = {}) {
  return error_of([&] { make_flow(node, scope); });
}

TEST(MakeFlow, a_flow_starts_with_a_source) {
  EXPECT_EQ(
      mistake(list({item("BatchData", {{"batch_size", 2}})})),
      "a flow starts with a source; BatchData is a stage; put one in front, such as Mnist: {split: train}");
  EXPECT_EQ(mistake(list({item("Counting", 2), item("Counting", 2)})),
            "Counting is a source and can only stand first; JoinData joins several flows");
  EXPECT_EQ(mistake(list({})), "a flow needs at least a source, as in [Mnist: {split: train}]");
}

TEST(MakeFlow, reports_all_mistakes_of_a_list) {
  EXPECT_EQ(mistake(list(
                {item("Countin", 2), item("BatchData", {{"batchsize", 2}}), item("Picky", {{"fail", "x"}})})),
            "unknown source, map or stage 'Countin'; did you mean 'Counting'?\n"
            "unknown key 'batchsize' in stage BatchData; did you mean 'batch_size'?\n"
            "stage BatchData: 'batch_size' is missing (samples of a batch)\n"
            "'fail' of map Picky: expected an integer, found the text 'x'");
}

TEST(MakeFlow, names_of_flows_are_followed) {
  const FlowScope scope = {{"base", list({item("Counting", 3)})},
                           {"loop", list({item("JoinData", list({"loop"}))})}};
  EXPECT_EQ(make_flow("base", scope).size(), 3);
  EXPECT_EQ(make_flow(list({item("JoinData", list({"base"}))}), scope).size(), 3);
  EXPECT_EQ(mistake("bass", scope), "unknown flow 'bass'; did you mean 'base'?");
  EXPECT_EQ(mistake("loop", scope), "the flow 'loop' contains itself: loop -> loop");
}

TEST(MakeFlow, batches_need_known_shapes) {
  const TempFolder folder;
  EXPECT_EQ(mistake(list({item("ImageFolder", folder.path()), item("BatchData", {{"batch_size", 2}})})),
            "batch_data_0: component 'image' is uint8 [?, ?, 3]; samples of one batch need equal shapes; put "
            "AugmentImageComponent with a Resize or a crop before");
}

TEST(MakeFlow, the_long_form_checks_its_keys) {
  EXPECT_EQ(mistake(ConfigNode::map({{"flow", list({item("Counting", 3)})}, {"worker", 2}})),
            "unknown key 'worker' in the flow; did you mean 'workers'?");
  EXPECT_EQ(mistake(3), "the flow: expected a map of parameters {key: value}, found the number 3");
  EXPECT_EQ(mistake(ConfigNode::map({{"workers", 2}})),
            "the flow: 'flow' is missing (list of components, from source to batch)");
}

}  // namespace
}  // namespace tpack
