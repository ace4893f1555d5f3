#include <thread>

#include <gmock/gmock-more-matchers.h>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/data_flow.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/map/tensor_map.h"
#include "dataflow/test_images.h"
#include "support/captured_log.h"
#include "support/late_source.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

std::string mistake(const ConfigNode& node, const FlowScope& scope = {}) {
  return error_of([&] { make_flow(node, scope); });
}

TEST(MakeFlow, reports_mistakes_with_places_and_fixes) {
  expect_errors([](const std::string& flow) { yaml_flow(flow); },
                {{"[BatchData: 2]", {":1:2: ", "BatchData is a stage", "put a source before it"}},
                 {"[Counting: 2, Counting: 2]", {":1:15: ", "source Counting", "use JoinData"}},
                 {"[]", {":1:1: ", "needs at least a source", "[Mnist: {split: train}]"}},
                 {"[Countin: 2, BatchData: {batchsize: 2}, Picky: {fail: x}]",
                  {"1:2: unknown source, map or stage 'Countin'; did you mean 'Counting'?",
                   "'batchsize' in stage BatchData; did you mean 'batch_size'?", "'batch_size' is missing",
                   "'fail' of map Picky", "'x'"}},
                 {"{flow: [Counting: 3], worker: 2}", {":1:23: ", "'worker'", "did you mean 'workers'?"}},
                 {"3", {":1:1: ", "expected a map"}},
                 {"{workers: 2}", {":1:1: ", "'flow' is missing"}}});
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
  EXPECT_EQ(first_component(flow), (Integers{0, 1, 3, 4, 5}));
}

TEST(MakeFlow, batches_need_known_shapes) {
  const TempFolder folder;
  EXPECT_TRUE(
      fails([&] { folder.flow("[ImageFolder: ., BatchData: 2]"); },
            {"batch_data_0: ", "'image' is uint8 [?, ?, 3]", "AugmentImageComponent: [{Resize: 224}]"}));
}

TEST(Sources, have_no_field_without_effect) {
  const auto content = [](const std::string& item) { return content_of_flow("[" + item + "]"); };
  EXPECT_THAT(live::dead_fields(Registry<Source>::table(), {content}), testing::IsEmpty());
}

TEST(TensorMaps, have_no_field_without_effect) {
  const auto content = [](const std::string& item) {
    return content_of_flow(
        "[{FakeData: {shapes: [[]], names: [x], size: 5, domain: [0, 3], dtype: [int32]}}, {MapData: "
        "{component: x, map: " +
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

using testing_late::LateSource;

TEST(LateSpec, is_known_once_the_flow_is_prepared) {
  const int before = LateSource::opened;
  const DataFlow flow = yaml_flow("[Late: {size: 10}, SelectComponent: [label], BatchData: 4]");
  EXPECT_FALSE(flow.knows_spec());
  EXPECT_EQ(LateSource::opened, before);
  EXPECT_TRUE(fails([&] { flow.spec(); }, {"known only after its data is opened"}));
  flow.prepare();
  EXPECT_TRUE(flow.knows_spec());
  EXPECT_EQ(flow.spec().str(), "label int32 [4]");
  EXPECT_EQ(flow.size(), 2);
  EXPECT_EQ(flow.batch_size(), 4);
  EXPECT_EQ(LateSource::opened, before + 1);
  Datapoint batch = first_sample(flow);
  EXPECT_EQ(batch.tensor(0).at(3), 0) << "3 % 3";
  EXPECT_EQ(LateSource::opened, before + 1) << "not again";
}

TEST(LateSpec, copies_and_threads_share_one_preparation) {
  const int before = LateSource::opened;
  const DataFlow flow = yaml_flow("[Late, BatchData: 2]");
  const DataFlow copy = flow;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&copy] { copy.prepare(); });
  threads.clear();
  EXPECT_EQ(flow.spec().size(), 2U);
  EXPECT_EQ(LateSource::opened, before + 1);
}

TEST(LateSpec, of_a_part_makes_the_whole_late) {
  const DataFlow flow = yaml_flow(
      "[JoinData: [[Late: {size: 6}, SelectComponent: [label]], [FakeData: {shapes: [[2]], dtype: [int32], "
      "names: [x], size: 6}]], BatchData: 3]");
  EXPECT_FALSE(flow.knows_spec());
  flow.prepare();
  EXPECT_EQ(flow.spec().size(), 2U);
  EXPECT_EQ(flow.size(), 2);
}

TEST(LateSpec, mistakes_of_later_items_show_at_once_if_they_need_no_data) {
  EXPECT_TRUE(fails([] { yaml_flow("[Late, BatchData: 0]"); }, {"'batch_size' of stage BatchData"}));
  EXPECT_THAT(error_of([] { yaml_flow("[Late, BatchDat]"); }), testing::HasSubstr("BatchData"));
}

TEST(LateSpec, mistakes_that_need_the_data_show_when_it_is_opened) {
  const DataFlow flow = yaml_flow("[Late, SelectComponent: [labl], BatchData: 2]");
  EXPECT_THAT(error_of([&] { flow.prepare(); }), testing::HasSubstr("'labl'"));
  EXPECT_THROW(flow.prepare(), ConfigError) << "and again";
}

TEST(LateSpec, absent_data_is_reported_when_it_is_opened) {
  const DataFlow flow = yaml_flow("[Late: {absent: true}, BatchData: 2]");
  EXPECT_THROW(flow.prepare(), DataError);
  EXPECT_FALSE(flow.knows_spec());
}

const live::Fields kLate(
    "source", "Late",
    {.left_out = {{"size", "a source of these tests"}, {"side", "the same"}, {"absent", "the same"}}});

}  // namespace
}  // namespace tpack
