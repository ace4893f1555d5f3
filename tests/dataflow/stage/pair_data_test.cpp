#include <map>
#include <set>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Rows 0 .. 99: 91 of class `no`, 8 of `yes`, 1 of `maybe`.
class PairedFlows : public testing::Test {
 protected:
  PairedFlows() {
    std::string text = "row,answer\n";
    for (int row = 0; row < 100; ++row)
      text += std::to_string(row) + "," + (row == 50 ? "maybe" : row % 12 == 5 ? "yes" : "no") + "\n";
    folder_.write_text("a.csv", text);
  }
  DataFlow flow(const std::string& stage, const std::string& rest = "") const {
    const std::string items =
        "CSV: {file: a.csv, columns: {row: row}, labels: {answer: {column: answer, classes: [no, yes, "
        "maybe]}}}, " +
        stage + rest;
    return folder_.flow("{flow: [" + items + "], workers: " + std::to_string(workers_) + "}");
  }
  struct Pair {
    int64_t row, row_2;
    bool is_same;
    bool operator==(const Pair&) const = default;
  };
  static std::vector<Pair> pairs(const DataFlow& flow, const Pass& pass = {}) {
    std::vector<Pair> all;
    const auto cursor = flow.open(pass);
    for (Datapoint d; cursor->next(d);)
      all.push_back({static_cast<int64_t>(d.tensor(0).at(0)), static_cast<int64_t>(d.tensor(2).at(0)),
                     d.tensor(1).at(0) == d.tensor(3).at(0)});
    return all;
  }
  static int64_t count_same(const std::vector<Pair>& all) {
    return std::count_if(all.begin(), all.end(), [](const Pair& pair) { return pair.is_same; });
  }

  TempFolder folder_;
  int workers_ = 1;
};

TEST_F(PairedFlows, give_each_sample_another_one) {
  const DataFlow paired = flow("PairData: answer");
  EXPECT_EQ(paired.spec().str(), "row float32 [], answer int32 [], row_2 float32 [], answer_2 int32 []");
  EXPECT_EQ(paired.spec()[3].classes.size(), 3U);
  paired.prepare();
  EXPECT_EQ(paired.size(), 100);
  EXPECT_EQ(paired.seek(), Seek::kExact);
  const std::vector<Pair> first = pairs(paired, {.seed = 2, .pass = 0});
  std::set<int64_t> rows;
  for (const Pair& pair : first) {
    rows.insert(pair.row);
    EXPECT_NE(pair.row, pair.row_2);
    EXPECT_FALSE(pair.row == 50 && pair.is_same) << "it is alone in its class";
  }
  EXPECT_EQ(rows.size(), 100U) << "each comes once as the first";
  EXPECT_NEAR(static_cast<double>(count_same(first)), 50, 20);
  EXPECT_NE(pairs(paired, {.seed = 2, .pass = 1}), first) << "a new draw in each pass";
}

TEST_F(PairedFlows, have_the_share_of_pairs_of_one_class) {
  EXPECT_EQ(count_same(pairs(flow("PairData: {component: answer, same: 0}"))), 0);
  EXPECT_EQ(count_same(pairs(flow("PairData: {component: answer, same: 1}"))), 99);
  int64_t same = 0;
  const DataFlow some = flow("PairData: {component: answer, same: 0.2}");
  for (int64_t pass = 0; pass < 40; ++pass) same += count_same(pairs(some, {.seed = 5, .pass = pass}));
  EXPECT_NEAR(static_cast<double>(same) / (40 * 99), 0.2, 0.03);
}

/// Each partner of a class is as likely.
TEST_F(PairedFlows, draw_all_partners_alike) {
  std::map<int64_t, int64_t> seen;
  const DataFlow paired = flow("PairData: {component: answer, same: 1}");
  for (int64_t pass = 0; pass < 200; ++pass) {
    for (const Pair& pair : pairs(paired, {.seed = 6, .pass = pass}))
      seen[pair.row_2] += pair.is_same ? 1 : 0;
  }
  for (const auto& [row, count] : seen) {
    if (row == 50) continue;
    EXPECT_NEAR(static_cast<double>(count), 200, 75) << row;
  }
}

TEST_F(PairedFlows, without_classes_have_any_partner) {
  const std::vector<Pair> all = pairs(flow("PairData"));
  ASSERT_EQ(all.size(), 100U);
  for (const Pair& pair : all) EXPECT_NE(pair.row, pair.row_2);
  EXPECT_GT(count_same(all), 70);
}

TEST_F(PairedFlows, are_the_same_with_workers_and_after_a_break) {
  const std::vector<Pair> all = pairs(flow("PairData: answer"), {.seed = 4, .pass = 2});
  EXPECT_EQ(pairs(flow("PairData: answer"), {.seed = 4, .pass = 2, .position = 60}),
            std::vector<Pair>(all.begin() + 60, all.end()));
  const auto batches = [&] {
    const DataFlow made = flow("PairData: answer", ", BatchData: 10");
    const auto stream = made.stream({.seed = 4, .passes = 3});
    return numbers_of(*stream);
  };
  const auto alone = batches();
  workers_ = 4;
  EXPECT_EQ(batches(), alone);
}

TEST_F(PairedFlows, say_what_is_wrong) {
  expect_errors([&](const std::string& stage) { flow("PairData: " + stage); },
                {{"row", {"PairData: component 'row' is float32 []", "a class number, int32 []"}},
                 {"{same: 0.3}", {"'same' needs classes"}}});
  EXPECT_TRUE(fails([] { yaml_flow("[RenderedDigits: {size: 20}, PairData: label]").prepare(); },
                    {"'label' is not known in advance"}));
}

TEST_F(PairedFlows, need_pairs_of_both_kinds) {
  expect_errors(
      [&](const std::string& rows) {
        folder_.write_text("a.csv", "row,answer\n" + rows);
        flow("PairData: answer").prepare();
      },
      {{"1,yes\n2,yes\n", {"all samples belong to one class"}},
       {"1,yes\n2,no\n", {"no class has two samples"}},
       {"1,yes\n", {"a pair needs two samples"}}});
}

const live::Fields kPairData("stage", "PairData",
                             {.base = "{component: label, same: 0.25}",
                              .values = {{"component", "image"}, {"same", "1"}},
                              .build = [](const std::string& item) {
                                return content_of_flow("[{RenderedDigits: {split: test, size: 20}}, " + item +
                                                       "]");
                              }});

}  // namespace
}  // namespace tpack
