#include "dataflow/data_flow.h"

#include <functional>
#include <latch>

#include "core/error.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(DataFlow, a_reader_of_a_shard_skips_its_own_items) {
  const DataFlow flow = yaml_flow("[Counting: {size: 20}]");
  const auto cursor = flow.open({.shard = 1, .shard_count = 3});  // 1, 4, 7, 10, 13, 16, 19
  Datapoint sample;
  EXPECT_EQ(cursor->skip(0), 0);
  EXPECT_EQ(cursor->skip(2), 2);
  ASSERT_TRUE(cursor->next(sample));
  EXPECT_EQ(*sample.tensor(0).data<int64_t>(), 7);
  EXPECT_EQ(cursor->skip(1), 1);
  ASSERT_TRUE(cursor->next(sample));
  EXPECT_EQ(*sample.tensor(0).data<int64_t>(), 13);
  EXPECT_EQ(cursor->skip(5), 2) << "as many as there are";
  EXPECT_FALSE(cursor->next(sample));
}

TEST(DataFlow, shards_of_a_pass_have_each_item_once) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = yaml_flow("[" + source + ": 11]");
    Integers seen(11);
    for (int64_t shard = 0; shard < 3; ++shard) {
      for (const int64_t k : first_component(flow, {.shard = shard, .shard_count = 3})) {
        EXPECT_EQ(k % 3, shard);
        ++seen[static_cast<size_t>(k)];
      }
    }
    EXPECT_EQ(seen, Integers(11, 1)) << source;
  }
}

TEST(DataFlow, a_pass_can_begin_anywhere) {
  const DataFlow flow = yaml_flow("[Counting: 11]");
  EXPECT_EQ(first_component(flow, {.position = 8}), (Integers{8, 9, 10}));
  EXPECT_EQ(first_component(flow, {.shard = 0, .shard_count = 3, .position = 7}), (Integers{9}));
}

TEST(DataFlow, has_the_settings_of_its_config) {
  const DataFlow flow = yaml_flow("{flow: [Counting: 4], workers: 3, prefetch: 5, on_error: skip}");
  EXPECT_EQ(flow.settings().workers.count, 3);
  EXPECT_EQ(flow.stream({})->stats().slots, 6U);
  EXPECT_EQ(flow.settings().on_error, OnError::kSkip);
  EXPECT_FALSE(flow.batch_size().has_value());
}

/// A flow that has nothing but `prepare`.
class PreparedFlow final : public Flow {
 public:
  explicit PreparedFlow(std::function<void()> work) : work_(std::move(work)) {}
  const Spec& spec() const override { return spec_; }
  Access access() const override { return Access::kSequential; }
  void prepare() const override { work_(); }

 private:
  std::function<void()> work_;
  Spec spec_;
};

DataFlow flow_that_prepares(std::function<void()> work) {
  return {std::make_shared<PreparedFlow>(std::move(work)), FlowSettings{}, nullptr};
}

TEST(DataFlow, several_are_prepared_side_by_side) {
  std::latch both(2);
  const auto meet = [&both] { both.arrive_and_wait(); };  // never returns to one thread alone
  prepare({{"train", flow_that_prepares(meet)}, {"validation", flow_that_prepares(meet)}});
  EXPECT_TRUE(both.try_wait());
}

TEST(DataFlow, of_several_that_cannot_be_prepared_the_first_by_name_is_reported) {
  const auto fail = [](const char* what) { return [what] { throw DataError("file", what); }; };
  bool finished = false;
  const std::map<std::string, DataFlow> flows{{"train", flow_that_prepares(fail("first"))},
                                              {"validation", flow_that_prepares(fail("second"))},
                                              {"zoo", flow_that_prepares([&] { finished = true; })}};
  EXPECT_THAT([&] { prepare(flows); }, testing::ThrowsMessage<DataError>(testing::HasSubstr("first")));
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace tpack
