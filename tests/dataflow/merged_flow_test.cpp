#include "dataflow/merged_flow.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(MergedFlow, names_samples_of_files_by_their_files) {
  const TempFolder folder;
  folder.write_text("a.csv", "x\n1\n2\n");
  folder.write_text("b.csv", "x\n3\n");
  const auto csv = [](const std::string& file) {
    return "[CSV: {file: " + file + ", columns: {x: x}, shuffle: false}]";
  };
  const DataFlow flow = folder.flow("[ConcatData: [" + csv("a.csv") + ", " + csv("b.csv") + "]]");
  flow.prepare();
  Texts files;
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) files.push_back(flow.flow()->file_of(d.id()));
  EXPECT_THAT(files, testing::ElementsAre(testing::EndsWith("a.csv:2"), testing::EndsWith("a.csv:3"),
                                          testing::EndsWith("b.csv:2")));
}

TEST(MergedFlow, is_as_good_to_read_as_its_flows) {
  EXPECT_EQ(yaml_flow("[ConcatData: [[Counting: 2], [Counting: 3]]]").flow()->access(), Access::kIndexed);
  EXPECT_EQ(yaml_flow("[ConcatData: [[Counting: 2], [Counting: 3, Filter: k > 0]]]").flow()->access(),
            Access::kFiltered);
  const DataFlow mixed = yaml_flow("[ConcatData: [[Counting: 2], [CountingInOrder: 3]]]");
  EXPECT_EQ(mixed.flow()->access(), Access::kSequential);
  EXPECT_EQ(mixed.seek(), Seek::kReplayReads);
}

TEST(MergedFlow, has_all_sources_and_is_part_of_validation_only_if_nothing_repeats) {
  const DataFlow flow = yaml_flow("[ConcatData: [[Counting: 2], [Counting: 3, RepeatedData: 2]]]");
  EXPECT_EQ(flow.sources().size(), 2U);
  EXPECT_TRUE(says(flow.flow()->repeats(), {"RepeatedData"}));
}

TEST(Flow, says_whether_samples_are_repeated) {
  const auto repeats = [](const std::string& stages) {
    return yaml_flow("[Counting: 4" + stages + "]").flow()->repeats();
  };
  EXPECT_EQ(repeats(""), "");
  EXPECT_EQ(repeats(", BatchData: 2"), "");
  EXPECT_EQ(repeats(", RepeatedData: 1"), "");
  EXPECT_EQ(repeats(", FixedSizeData: 4"), "");
  EXPECT_EQ(repeats(", FixedSizeData: 3"), "") << "fewer are a choice";
  EXPECT_EQ(repeats(", CacheData"), "");
  EXPECT_TRUE(says(repeats(", RepeatedData: 2, BatchData: 2"), {"2 times"}));
  EXPECT_TRUE(says(repeats(", FixedSizeData: 5"), {"5 samples of 4"}));
  EXPECT_TRUE(says(repeats(", RepeatedDataPoint: 3"), {"3 times"}));
  EXPECT_TRUE(says(repeats(", LocallyShuffleData: {buffer_size: 4, num_reuse: 3}"), {"3 times"}));
}

}  // namespace
}  // namespace tpack
