#include "core/text.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/map/tensor_map.h"
#include "dataflow/test_images.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

std::string mistake(const ConfigNode& node, const FlowScope& scope = {}) {
  return error_of([&] { make_flow(node, scope); });
}

TEST(MakeFlow, a_flow_starts_with_a_source) {
  EXPECT_EQ(mistake(list({item("BatchData", {{"batch_size", 2}})})),
            "a flow must start with a source, but BatchData is a stage; put a source before it, such as "
            "ImageFolder: photos; for a part of the data of data.train, add split: 0.2 to the config");
  EXPECT_EQ(mistake(list({item("Counting", 2), item("Counting", 2)})),
            "source Counting must be the first item of a flow; use JoinData to join flows");
  EXPECT_EQ(mistake(list({})), "a flow needs at least a source, as in [Mnist: {split: train}]");
}

TEST(MakeFlow, reports_all_mistakes_of_a_list) {
  EXPECT_EQ(mistake(list(
                {item("Countin", 2), item("BatchData", {{"batchsize", 2}}), item("Picky", {{"fail", "x"}})})),
            "unknown source, map or stage 'Countin'; did you mean 'Counting'?\n"
            "unknown key 'batchsize' in stage BatchData; did you mean 'batch_size'?\n"
            "stage BatchData: 'batch_size' is missing (samples per batch)\n"
            "'fail' of map Picky: expected an integer, found the string 'x'");
}

TEST(MakeFlow, names_of_flows_are_followed) {
  const FlowScope scope = {{"base", list({item("Counting", 3)})},
                           {"loop", list({item("JoinData", list({"loop"}))})}};
  EXPECT_EQ(make_flow("base", scope).size(), 3);
  EXPECT_EQ(make_flow(list({item("JoinData", list({"base"}))}), scope).size(), 3);
  EXPECT_EQ(mistake("bass", scope), "unknown flow 'bass'; did you mean 'base'?");
  EXPECT_EQ(mistake("loop", scope), "the flow 'loop' contains itself: loop -> loop");
}

TEST(MakeFlow, what_names_another_flow_says_more_than_that_one) {
  const ConfigNode picky = list({item("Counting", 6), item("Picky", {{"fail", 2}})});
  const FlowScope scope = {{"raw", ConfigNode::map({{"flow", picky}, {"workers", 2}, {"prefetch", 5}})}};
  const DataFlow flow =
      make_flow(ConfigNode::map({{"flow", "raw"}, {"workers", 3}, {"on_error", "skip"}}), scope);
  EXPECT_EQ(flow.settings().workers.count, 3);
  EXPECT_EQ(flow.settings().prefetch, 5);
  EXPECT_EQ(flow.settings().on_error, OnError::kSkip);
  EXPECT_EQ(first_component(flow), (std::vector<int64_t>{0, 1, 3, 4, 5}));
}

TEST(MakeFlow, batches_need_known_shapes) {
  const TempFolder folder;
  EXPECT_EQ(
      mistake(list({item("ImageFolder", folder.path()), item("BatchData", {{"batch_size", 2}})})),
      "batch_data_0: component 'image' is uint8 [?, ?, 3]; samples of one batch need equal shapes; put "
      "AugmentImageComponent: [{Resize: 224}] before it, or a crop; images of that size stay unchanged");
}

TEST(MakeFlow, the_long_form_checks_its_keys) {
  EXPECT_EQ(mistake(ConfigNode::map({{"flow", list({item("Counting", 3)})}, {"worker", 2}})),
            "unknown key 'worker' in the flow; did you mean 'workers'?");
  EXPECT_EQ(mistake(3), "the flow: expected a map of parameters {key: value}, found the number 3");
  EXPECT_EQ(mistake(ConfigNode::map({{"workers", 2}})),
            "the flow: 'flow' is missing (list of components, from source to batch)");
}

TEST(Sources, have_no_field_without_effect) {
  const auto content = [](const std::string& item) { return content_of_flow("[" + item + "]"); };
  EXPECT_THAT(live::dead_fields(Registry<Source>::table(), {content}), testing::IsEmpty());
}

TEST(TensorMaps, have_no_field_without_effect) {
  const auto content = [](const std::string& item) {
    return content_of_flow(
        "[{FakeData: {shapes: [[]], names: [x], size: 5, domain: [0, 3], dtype: [int32]}}, "
        "{MapData: {component: x, map: " +
        item + "}}]");
  };
  EXPECT_THAT(live::dead_fields(Registry<TensorMap>::table(), {content}), testing::IsEmpty());
}

TEST(Stages, have_no_field_without_effect) {
  const auto content = [](const std::string& item) {
    return content_of_flow("[{FakeData: {shapes: [[], []], names: [image, label], size: 10}}, " + item + "]");
  };
  EXPECT_THAT(live::dead_fields(Registry<Stage>::table(), {content, {{"component", {"label"}}}}),
              testing::IsEmpty());
}

TEST(Maps, have_no_field_without_effect) {
  const auto content = [](const std::string& item) {
    const CapturedLog log;
    const std::string flow = content_of_flow("[{RenderedDigits: {size: 3}}, " + item + "]");
    return flow + log.text();
  };
  EXPECT_THAT(live::dead_fields(Registry<Map>::table(), {content, {{"component", {"image", "label"}}}}),
              testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
