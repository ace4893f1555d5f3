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

DataFlow flow_of(std::initializer_list<ConfigNode> items) { return make_flow(list(items)); }
ConfigNode batches(int64_t size) { return item("BatchData", {{"batch_size", size}}); }

TEST(LateSpec, is_known_once_the_flow_is_prepared) {
  const int before = LateSource::opened;
  const DataFlow flow =
      flow_of({item("Late", {{"size", 10}}), item("SelectComponent", list({"label"})), batches(4)});
  EXPECT_FALSE(flow.knows_spec());
  EXPECT_EQ(LateSource::opened, before);
  EXPECT_EQ(error_of([&] { flow.spec(); }),
            "the contents of this flow are known only after its data is opened");
  flow.prepare();
  EXPECT_TRUE(flow.knows_spec());
  EXPECT_EQ(flow.spec().str(), "label int32 [4]");
  EXPECT_EQ(flow.size(), 2);
  EXPECT_EQ(flow.batch_size(), 4);
  EXPECT_EQ(LateSource::opened, before + 1);
  const auto cursor = flow.open({});
  Datapoint batch;
  ASSERT_TRUE(cursor->next(batch));
  EXPECT_EQ(batch.tensor(0).at(3), 0) << "3 % 3";
  EXPECT_EQ(LateSource::opened, before + 1) << "not again";
}

TEST(LateSpec, copies_and_threads_share_one_preparation) {
  const int before = LateSource::opened;
  const DataFlow flow = flow_of({"Late", batches(2)});
  const DataFlow copy = flow;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&copy] { copy.prepare(); });
  threads.clear();
  EXPECT_EQ(flow.spec().size(), 2U);
  EXPECT_EQ(LateSource::opened, before + 1);
}

TEST(LateSpec, of_a_part_makes_the_whole_late) {
  const DataFlow flow = flow_of(
      {item("JoinData", list({list({item("Late", {{"size", 6}}), item("SelectComponent", list({"label"}))}),
                              list({fake_numbers(6)})})),
       batches(3)});
  EXPECT_FALSE(flow.knows_spec());
  flow.prepare();
  EXPECT_EQ(flow.spec().size(), 2U);
  EXPECT_EQ(flow.size(), 2);
}

TEST(LateSpec, mistakes_of_later_items_show_at_once_if_they_need_no_data) {
  EXPECT_THAT(error_of([] {
                flow_of({"Late", batches(0)});
              }),
              testing::HasSubstr("'batch_size' of stage BatchData"));
  EXPECT_THAT(error_of([] { flow_of({"Late", "BatchDat"}); }), testing::HasSubstr("BatchData"));
}

TEST(LateSpec, mistakes_that_need_the_data_show_when_it_is_opened) {
  const DataFlow flow = flow_of({"Late", item("SelectComponent", list({"labl"})), batches(2)});
  EXPECT_THAT(error_of([&] { flow.prepare(); }), testing::HasSubstr("'labl'"));
  EXPECT_THROW(flow.prepare(), ConfigError) << "and again";
}

TEST(LateSpec, absent_data_is_reported_when_it_is_opened) {
  const DataFlow flow = flow_of({item("Late", {{"absent", true}}), batches(2)});
  EXPECT_THROW(flow.prepare(), DataError);
  EXPECT_FALSE(flow.knows_spec());
}

const live::Fields kLate(
    "source", "Late",
    {.left_out = {{"size", "a source of these tests"}, {"side", "the same"}, {"absent", "the same"}}});

}  // namespace
}  // namespace tpack
