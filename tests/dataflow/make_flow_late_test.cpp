// Sources whose components are known only after they are opened.
#include <thread>

#include <gmock/gmock.h>

#include "core/error.h"
#include "dataflow/data_flow.h"
#include "dataflow/flow_helpers.h"
#include "support/late_source.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

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
