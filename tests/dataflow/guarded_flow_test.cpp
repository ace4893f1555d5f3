#include "dataflow/guarded_flow.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

DataFlow guarded(const std::string& source, const char* policy, ConfigNode picky) {
  return make_flow(
      ConfigNode::map({{"flow", list({item(source, 8), item("Picky", std::move(picky)),
                                      item("BatchData", {{"batch_size", 2}, {"remainder", true}})})},
                       {"on_error", policy}}));
}

std::vector<int64_t> streamed(const DataFlow& flow) {
  std::vector<int64_t> all;
  const auto stream = flow.stream({.workers = 3, .slots = 2, .passes = 1});
  while (auto batch = stream->next()) {
    for (int64_t i = 0; i < batch->samples(); ++i)
      all.push_back(static_cast<int64_t>(batch->tensor(0).at(i)));
  }
  return all;
}

TEST(GuardedFlow, skip_leaves_bad_samples_out) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = guarded(source, "skip", {{"fail", 3}});
    const std::vector<int64_t> good = {0, 1, 2, 4, 5, 6, 7};
    EXPECT_EQ(first_component(flow), good) << source;
    EXPECT_EQ(streamed(flow), good) << source;
    EXPECT_EQ(flow.bad_samples().count(), 1) << source << ": two readers met it";
    EXPECT_FALSE(flow.size().has_value());
  }
}

TEST(GuardedFlow, replace_takes_the_next_good_sample) {
  const DataFlow flow = guarded("Counting", "replace", {{"fail", 3}});
  const std::vector<int64_t> good = {0, 1, 2, 4, 4, 5, 6, 7};
  EXPECT_EQ(first_component(flow), good);
  EXPECT_EQ(streamed(flow), good);
  EXPECT_EQ(flow.size(), 4);
  EXPECT_EQ(flow.seek(), Seek::kExact);
}

TEST(GuardedFlow, reports_stage_sample_and_text) {
  const DataFlow flow = guarded("Counting", "skip", {{"fail", 3}});
  std::vector<std::string> reports;
  flow.bad_samples().on_bad_sample(
      [&](const SampleError& e) { reports.push_back(e.place().stage + "|" + e.text()); });
  streamed(flow);
  EXPECT_EQ(reports, std::vector<std::string>{"picky_0|number 3 is bad"});
}

TEST(GuardedFlow, a_flow_of_bad_samples_only_still_fails) {
  EXPECT_EQ(error_of([] {
              streamed(guarded("Counting", "replace", {{"fail_all", true}}));
            }),
            "picky_0, sample 7 of pass 0: number 7 is bad");
}

TEST(GuardedFlow, skip_gives_up_if_no_sample_is_good) {
  const ConfigNode endless =
      list({item("Counting", 8), item("Picky", {{"fail_all", true}}), item("RepeatedData", {{"num", -1}}),
            item("BatchData", {{"batch_size", 2}})});
  const DataFlow flow = make_flow(ConfigNode::map({{"flow", endless}, {"on_error", "skip"}}));
  const auto stream = flow.stream({.workers = 3, .slots = 2});
  EXPECT_THAT(error_of([&] { stream->next(); }), testing::HasSubstr("is bad"));
}

TEST(GuardedFlow, replace_needs_places) {
  EXPECT_THAT(error_of([] { guarded("CountingInOrder", "replace", {}); }),
              testing::HasSubstr("on_error: replace needs samples that can be read by index"));
}

}  // namespace
}  // namespace tpack
