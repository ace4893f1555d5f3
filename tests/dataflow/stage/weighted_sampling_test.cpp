#include <cmath>
#include <map>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Rows 0 .. 9, of classes a (rows 0 to 7) and b, with a weight each: their number.
class WeightedFlows : public testing::Test {
 protected:
  WeightedFlows() {
    std::string text = "row,w,c\n";
    for (int row = 0; row < 10; ++row)
      text += std::to_string(row) + "," + std::to_string(row) + "," + (row < 8 ? "a" : "b") + "\n";
    folder_.write_text("a.csv", text);
  }
  DataFlow flow(const std::string& sampling) const {
    return folder_.flow(
        "[CSV: {file: a.csv, columns: {row: row, w: w}, labels: {c: {column: c, classes: [a, b]}}}, "
        "WeightedSampling: " +
        sampling + "]");
  }
  static Numbers shares(const DataFlow& flow, int64_t passes) {
    Numbers all(10);
    double sum = 0;
    for (int64_t pass = 0; pass < passes; ++pass) {
      for (const int64_t row : first_component(flow, {.seed = 9, .pass = pass})) {
        all[static_cast<size_t>(row)] += 1;
        sum += 1;
      }
    }
    for (double& share : all) share /= sum;
    return all;
  }
  TempFolder folder_;
};

TEST_F(WeightedFlows, draws_in_proportion_to_the_weights) {
  const DataFlow weighted = flow("{component: w, samples: 20000}");
  EXPECT_EQ(weighted.size(), 20000);
  const Numbers found = shares(weighted, 1);
  EXPECT_EQ(found[0], 0) << "weight 0";
  for (int row = 1; row < 10; ++row) {
    const double p = row / 45.0;
    EXPECT_NEAR(found[static_cast<size_t>(row)], p, 5 * std::sqrt(p * (1 - p) / 20000)) << row;
  }
}

TEST_F(WeightedFlows, weights_of_classes_are_those_of_their_samples) {
  const Numbers found = shares(flow("{component: c, weights: {b: 4}, samples: 20000}"), 1);
  for (int row = 0; row < 10; ++row) {
    const double p = (row < 8 ? 1.0 : 4.0) / 16;
    EXPECT_NEAR(found[static_cast<size_t>(row)], p, 5 * std::sqrt(p * (1 - p) / 20000)) << row;
  }
}

TEST_F(WeightedFlows, without_replacement_no_sample_comes_twice) {
  const DataFlow weighted = flow("{component: w, replacement: false, samples: 3}");
  std::map<Integers, int> orders;
  for (int64_t pass = 0; pass < 20; ++pass) {
    auto rows = first_component(weighted, {.seed = 2, .pass = pass});
    EXPECT_EQ(rows.size(), 3U);
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(std::unique(rows.begin(), rows.end()), rows.end());
    EXPECT_NE(rows[0], 0) << "weight 0";
    ++orders[rows];
  }
  EXPECT_GT(orders.size(), 5U) << "each pass draws again";
  const DataFlow whole = flow("{component: w, replacement: false}");
  whole.prepare();
  EXPECT_EQ(whole.size(), 9) << "all that have a weight above 0";
}

/// Of two that are drawn one after the other: P(i) = p_i + sum over j != i of p_j p_i / (1 - p_j).
TEST_F(WeightedFlows, without_replacement_the_next_draw_is_from_the_rest) {
  const int64_t passes = 4000;
  const Numbers found = shares(flow("{component: w, replacement: false, samples: 2}"), passes);
  for (int i = 1; i < 10; ++i) {
    double p = i / 45.0;
    for (int j = 1; j < 10; ++j) {
      if (j != i) p += (j / 45.0) * (i / 45.0) / (1 - j / 45.0);
    }
    const double deviation = std::sqrt(p * (1 - p) / static_cast<double>(passes));
    EXPECT_NEAR(2 * found[static_cast<size_t>(i)], p, 5 * deviation) << i;
  }
}

TEST_F(WeightedFlows, goes_on_at_any_place) {
  for (const std::string replacement : {"true", "false"}) {
    const DataFlow weighted = flow("{component: w, samples: 6, replacement: " + replacement + "}");
    const auto all = first_component(weighted, {.seed = 3, .pass = 5});
    EXPECT_EQ(first_component(weighted, {.seed = 3, .pass = 5, .position = 4}),
              Integers(all.begin() + 4, all.end()));
    EXPECT_NE(first_component(weighted, {.seed = 3, .pass = 6}), all);
  }
}

TEST_F(WeightedFlows, explains_mistakes) {
  expect_errors([&](const std::string& sampling) { flow(sampling).prepare(); },
                {{"c", {"WeightedSampling: component 'c' is a class", "weights: {a: 5}", "ClassBalanced: c"}},
                 {"{component: w, weights: {a: 2}}", {"'w' is float32 []", "a class number, int32 []"}},
                 {"{component: c, weights: {bb: 2}}", {"'bb' of 'c'; did you mean 'b'?", "it has a, b"}},
                 {"{component: c, weights: {a: -1}}", {"a weight of at least 0"}},
                 {"{component: c, weights: {a: 0, b: 0}}", {"no sample has a weight above 0"}},
                 {"{component: w, replacement: false, samples: 10}",
                  {"'samples' is 10", "only 9", "replacement: true"}}});
}

const live::Fields kWeightedSampling(
    "stage", "WeightedSampling",
    {.base = "{component: label, weights: {'3': 5}}",
     .values = {{"component", "image"}, {"weights", "{'4': 50}"}, {"samples", "6"}},
     .build = [](const std::string& item) {
       return content_of_flow("[{RenderedDigits: {split: test, size: 20}}, " + item + "]");
     }});

}  // namespace
}  // namespace tpack
