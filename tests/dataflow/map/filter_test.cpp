#include "config/yaml_reader.h"
#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

DataFlow filtered_flow(const std::string& items) {
  return make_flow(parse_yaml("[" + items + "]", "a.yaml"));
}

TEST(Filter, keeps_samples_for_which_the_condition_holds) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    const DataFlow flow = filtered_flow(source + ": 10, Filter: k > 2 and k % 2 == 0");
    EXPECT_EQ(first_component(flow), (std::vector<int64_t>{4, 6, 8})) << source;
    EXPECT_EQ(flow.size(), std::nullopt);
    EXPECT_EQ(flow.seek(), Seek::kReplayReads);
  }
}

TEST(Filter, fills_batches_from_what_is_left) {
  const std::string items =
      "Counting: {size: 100, shuffle: true}, Filter: k % 3 == 0, BatchData: {batch_size: 8, remainder: true}";
  std::vector<int64_t> expected;
  for (int64_t k = 0; k < 100; k += 3) expected.push_back(k);
  const auto passes_of = [](const DataFlow& flow) {
    const auto stream = flow.stream({.seed = 5, .passes = 2});
    std::vector<int64_t> all;
    while (const auto batch = stream->next())
      for (int64_t i = 0; i < batch->tensor(0).elements(); ++i)
        all.push_back(static_cast<int64_t>(batch->tensor(0).at(i)));
    return all;
  };
  const auto alone = passes_of(filtered_flow(items));
  EXPECT_EQ(alone, passes_of(make_flow(parse_yaml("{flow: [" + items + "], workers: 4}", "a.yaml"))));
  ASSERT_EQ(alone.size(), 2 * expected.size());
  std::vector<int64_t> first(alone.begin(), alone.begin() + 34);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, expected);
}

TEST(Filter, knows_the_names_of_classes) {
  const TempFolder folder;
  const std::string text = "c,v\na,1\nb,2\na,3\n";
  folder.write("a.csv", {text.begin(), text.end()});
  const std::string csv =
      "CSV: {file: " + folder.path("a.csv") + ", columns: {v: v}, labels: {c: c}, shuffle: false}";
  const DataFlow flow = filtered_flow(csv + ", Filter: c != 'b'");
  flow.prepare();
  EXPECT_EQ(first_component(flow), (std::vector<int64_t>{1, 3}));
  EXPECT_THAT(error_of([&] { filtered_flow(csv + ", Filter: c != 'd'").prepare(); }),
              testing::HasSubstr("unknown class 'd' of 'c'; it has a, b"));
}

TEST(Filter, needs_one_truth) {
  EXPECT_EQ(error_of([] { filtered_flow("Counting: 4, Filter: k + 1"); }),
            "a.yaml:1:23: map Filter: 'k + 1' is int64 [], not true or false for the sample; compare it, "
            "such as `x > 0`");
  EXPECT_EQ(error_of([] { filtered_flow("FakeData: {shapes: [[2]], names: [x], size: 3}, Filter: x > 0"); }),
            "a.yaml:1:58: map Filter: 'x > 0' is bool [2], not true or false for the sample; write all(...) "
            "or any(...) of it, before BatchData");
}

TEST(Filter, is_not_for_predictions) {
  EXPECT_EQ(Registry<Map>::make("Filter", "k > 2")->narrow({"x"}), std::nullopt);
}

const live::Fields kFilter("map", "Filter",
                           {.base = "{condition: label > 2}", .values = {{"condition", "label <= 2"}}});

}  // namespace
}  // namespace tpack
