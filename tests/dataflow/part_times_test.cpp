#include "dataflow/part_times.h"

#include <gmock/gmock-matchers.h>

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

const std::string kOuter = "outer";
const std::string kInner = "inner";

TEST(PartTimer, measures_nothing_without_a_clock) {
  PartTimes times(1);
  { const PartTimer timer(kOuter); }
  {
    const WorkClock clock(nullptr);
    const PartTimer timer(kOuter);
  }
  EXPECT_THAT(times.totals().parts, testing::IsEmpty());
  EXPECT_EQ(times.totals().seconds(), 0);
}

TEST(PartTimer, counts_the_items_of_parts_inside_others_and_their_bytes) {
  PartTimes times(1);
  Datapoint four;
  four.renew(0, {DType::kFloat32, {}});
  {
    WorkClock clock(&times);
    const PartTimer outer(kOuter, &four);
    for (int i = 0; i < 3; ++i) const PartTimer inner(kInner, &four);
    clock.add_samples(2);
  }
  const PartTimes::Totals totals = times.totals();
  ASSERT_EQ(totals.parts.size(), 2U);
  EXPECT_EQ(totals.parts.at(kOuter).items, 1);
  EXPECT_EQ(totals.parts.at(kInner).items, 3);
  EXPECT_EQ(totals.parts.at(kInner).bytes, 12);
  EXPECT_EQ(totals.parts.at(kInner).bytes_per_item(), 4);
  EXPECT_EQ(totals.samples, 2);
  EXPECT_DOUBLE_EQ(totals.seconds(),
                   totals.rest_s + totals.parts.at(kOuter).seconds + totals.parts.at(kInner).seconds);
  times.reset();
  EXPECT_EQ(times.totals().samples, 0);
}

/// The first one is measured, so that short runs know something.
TEST(PartTimes, measures_one_piece_of_work_in_so_many) {
  PartTimes times(3);
  std::vector<bool> measured;
  for (int i = 0; i < 7; ++i) measured.push_back(times.next());
  EXPECT_THAT(measured, testing::ElementsAre(true, false, false, true, false, false, true));
}

std::map<std::string, int64_t> items_of(const DataFlow& flow, size_t workers, int64_t batches) {
  const auto stream = flow.stream({.workers = workers, .passes = 1, .measure_every = 1});
  while (stream->next()) {
  }
  EXPECT_EQ(stream->stats().batches, batches);
  std::map<std::string, int64_t> items;
  const PartTimes::Totals totals = stream->part_times()->totals();
  for (const auto& [part, time] : totals.parts) items[part] = time.items;
  items["samples"] = totals.samples;
  return items;
}

/// The order filler and the place filler count the same work, whichever worker does it.
TEST(StreamParts, count_the_work_of_each_part) {
  const std::string maps =
      "- MapData: {component: x, map: {Scale: {scale: 2}}}\n"
      "- BatchData: 4\n"
      "- MapData: {component: x, map: {Scale: {scale: 3}}}\n";
  const std::string fake = "- FakeData: {shapes: [[2]], names: [x], size: 20}\n";
  const std::map<std::string, int64_t> wanted = {
      {"batch_data_0", 5}, {"fake_data_0", 20}, {"map_data_0", 20}, {"map_data_1", 5}, {"samples", 20}};
  for (const size_t workers : {1U, 3U}) {
    EXPECT_EQ(items_of(yaml_flow(fake + maps), workers, 5), wanted);
    auto with_filter = wanted;
    with_filter["filter_0"] = 20;
    EXPECT_EQ(items_of(yaml_flow(fake + "- Filter: all(x >= 0)\n" + maps), workers, 5), with_filter);
  }
}

TEST(StreamParts, are_the_components_of_the_config_with_their_positions) {
  const DataFlow flow = yaml_flow(
      "- JoinData:\n"
      "    - [FakeData: {shapes: [[2]], names: [x], size: 20}]\n"
      "    - [FakeData: {shapes: [[2]], names: [y], size: 20}, MapData: {component: y, map: {Scale: {scale: "
      "2}}}]\n"
      "- PrefetchData: 4\n"
      "- LocallyShuffleData: 5\n"
      "- BatchData: 4\n");
  std::vector<std::string> names;
  for (const FlowPart& part : flow.parts()) {
    names.push_back(part.name);
    EXPECT_TRUE(part.position.known()) << part.name;
  }
  EXPECT_THAT(names, testing::ElementsAre("join_data_0/0/fake_data_0", "join_data_0/1/fake_data_0",
                                          "join_data_0/1/map_data_0", "join_data_0", "locally_shuffle_data_0",
                                          "batch_data_0"));
}

}  // namespace
}  // namespace tpack
