#include "dataflow/guarded_flow.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

DataFlow guarded(const std::string& source, const std::string& policy, const std::string& picky = "Picky") {
  return yaml_flow("{flow: [" + source + ": 8, " + picky +
                   ", BatchData: {batch_size: 2, remainder: true}], on_error: " + policy + "}");
}

Integers streamed(const DataFlow& flow) {
  Integers all;
  const auto stream = flow.stream({.workers = 3, .slots = 2, .passes = 1});
  while (auto batch = stream->next()) {
    for (int64_t i = 0; i < batch->samples(); ++i)
      all.push_back(static_cast<int64_t>(batch->tensor(0).at(i)));
  }
  return all;
}

TEST(GuardedFlow, skip_leaves_bad_samples_out) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = guarded(source, "skip", "Picky: {fail: 3}");
    const Integers good = {0, 1, 2, 4, 5, 6, 7};
    EXPECT_EQ(first_component(flow), good) << source;
    EXPECT_EQ(streamed(flow), good) << source;
    EXPECT_EQ(flow.bad_samples().count(), 1) << source << ": two readers met it";
    EXPECT_FALSE(flow.size().has_value());
  }
}

TEST(GuardedFlow, replace_takes_the_next_good_sample) {
  const DataFlow flow = guarded("Counting", "replace", "Picky: {fail: 3}");
  const Integers good = {0, 1, 2, 4, 4, 5, 6, 7};
  EXPECT_EQ(first_component(flow), good);
  EXPECT_EQ(streamed(flow), good);
  EXPECT_EQ(flow.size(), 4);
  EXPECT_EQ(flow.seek(), Seek::kExact);
}

TEST(GuardedFlow, reports_stage_sample_and_text) {
  const DataFlow flow = guarded("Counting", "skip", "Picky: {fail: 3}");
  Texts reports;
  flow.bad_samples().on_bad_sample(
      [&](const SampleError& e) { reports.push_back(e.place().stage + "|" + e.text()); });
  streamed(flow);
  EXPECT_EQ(reports, Texts{"picky_0|number 3 is bad"});
}

TEST(GuardedFlow, a_flow_of_bad_samples_only_still_fails) {
  EXPECT_TRUE(fails([] { streamed(guarded("Counting", "replace", "Picky: {fail_all: true}")); },
                    {"picky_0, sample 7 of pass 0: "}));
}

TEST(GuardedFlow, skip_gives_up_if_no_sample_is_good) {
  const DataFlow flow =
      yaml_flow("{flow: [Counting: 8, Picky: {fail_all: true}, RepeatedData, BatchData: 2], on_error: skip}");
  const auto stream = flow.stream({.workers = 3, .slots = 2});
  EXPECT_THAT(error_of([&] { stream->next(); }), testing::HasSubstr("is bad"));
}

TEST(GuardedFlow, replace_needs_places) {
  EXPECT_TRUE(fails([] { guarded("CountingInOrder", "replace"); }, {"on_error: replace", "by index"}));
}

}  // namespace
}  // namespace tpack
