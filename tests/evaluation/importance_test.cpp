#include "evaluation/importance.h"

#include <cmath>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "backend/inference_tower.h"
#include "core/text.h"
#include "infer/infer_runs.h"
#include "support/small_model.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// p = a + b is the target exactly; c is not used.
class ImportanceOfSum : public testing::Test {
 protected:
  ImportanceTable table(const ImportanceOptions& options) {
    Evaluator evaluator("validation", tower_.handle(), flow_, 1);
    return {evaluator, importance_units(evaluator, model_->inputs(), flow_), options};
  }
  double variance(const char* component) {
    const auto cursor = flow_.open({.seed = 1});
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (Datapoint d; cursor->next(d);) {
      const Tensor& x = d.tensor(*flow_.spec().find(component));
      for (int64_t i = 0; i < x.elements(); ++i) {
        sum += x.at(i);
        squares += x.at(i) * x.at(i);
        ++count;
      }
    }
    return squares / count - sum / count * (sum / count);
  }
  std::unique_ptr<TowerFunction> model_ = model_of(
      "inputs: {a: {shape: [1]}, b: {shape: [1]}, c: {shape: [1]}, y: {shape: [1]}}\n"
      "layers: [{Add: {name: p, input: [a, b]}}]\n"
      "cost: [MeanSquaredError: {predictions: p, targets: y}]\n"
      "metrics: [R2: {predictions: p, targets: y}]\n");
  InferenceTower tower_{*model_, make_reference_device("cpu:0", {})};
  DataFlow flow_ =
      make_flow(parse_yaml("- FakeData: {shapes: [[1], [1], [1]], dtype: [float32, float32, float32], names: "
                           "[a, b, c], size: 37}\n"
                           "- Compute: {b: b * 3, y: a + b}\n"
                           "- BatchData: {batch_size: 8, remainder: true}",
                           "t.yaml"));
};

/// A permutation makes the mean of (x_i - x_j)^2, which is twice the variance.
TEST_F(ImportanceOfSum, is_twice_the_variance_of_a_term) {
  const ImportanceTable of = table({.statistic = "cost", .repeats = 300});
  ASSERT_EQ(of.rows().size(), 2U) << "what no prediction depends on has none";
  EXPECT_EQ(of.rows()[0].name, "b") << "the largest first";
  for (const Importance& row : of.rows()) {
    const double expected = 2 * variance(row.name.c_str());
    EXPECT_NEAR(row.mean, expected, 4 * row.deviation / std::sqrt(300.0)) << row.name;
    EXPECT_LT(row.low, row.mean);
    EXPECT_NEAR(row.high - row.mean, 1.96793 * row.deviation / std::sqrt(299.0), 1e-5 * row.deviation);
  }
}

/// Of one variance, R2 falls by as much as the squared error rises in units of the variance of the targets.
TEST_F(ImportanceOfSum, is_of_any_statistic_and_the_same_each_time) {
  const ImportanceTable cost = table({.statistic = "cost", .repeats = 3});
  const ImportanceTable r2 = table({.statistic = "r2", .repeats = 3});
  ASSERT_EQ(r2.rows().size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(r2.rows()[i].mean, cost.rows()[i].mean / variance("y"), 1e-5);
    EXPECT_EQ(table({.statistic = "r2", .repeats = 3}).rows()[i].values, r2.rows()[i].values);
  }
  for (const auto& [repeats, t] : {std::pair{3, 4.303}, {32, 2.0395}, {41, 2.0211}, {121, 1.9799}}) {
    const Importance row = table({.statistic = "cost", .repeats = repeats}).rows()[0];
    EXPECT_NEAR((row.high - row.mean) * std::sqrt(repeats - 1.0) / row.deviation, t, 1e-4)
        << "the published quantile 0.975 of Student's t";
  }
  EXPECT_THAT(r2.str(), HasSubstr("fall of r2"));
  EXPECT_THAT(cost.svg(), HasSubstr("rise of cost"));
  EXPECT_THROW(table({.statistic = "costs"}), ConfigError);
}

class ImportanceOfTables : public InferRuns {};

TEST_F(ImportanceOfTables, permutes_all_numbers_of_a_column_as_one_and_columns_that_go_together) {
  std::string rows =
      "left,right,kind,middle,late\n";  // left and right go with the middle, not with each other
  for (int i = 0; i < 60; ++i) {
    const int middle = i * 7 % 60;
    const int other = i * 13 % 60;
    rows += std::to_string(87 * middle + 50 * other) + "," + std::to_string(50 * other - 87 * middle) + "," +
            std::vector<std::string>{"red", "green", "blue"}[static_cast<size_t>(i % 3)] + "," +
            std::to_string(middle) + "," + (middle > 30 ? "yes" : "no") + "\n";
  }
  write_content(folder_ / "train.csv", rows);
  train("{CSV: {file: train.csv, columns: {x: auto}, labels: {late: late}}}",
        "model:\n  layers: [{FullyConnected: {name: fc, input: x, units: 2}}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: late}]\n");
  const testing_cli::Outcome outcome = testing_cli::tpack(
      {"eval", folder_ / "run/checkpoints/model-2.h5", folder_ / "train.csv", "--data", "train",
       "--importance", "cost", "--repeats", "4", "--json", "--svg", folder_ / "bars.svg"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto result = nlohmann::json::parse(outcome.out);
  std::vector<std::string> names;
  for (const auto& row : result.at("importance")) names.push_back(row.at("permuted"));
  const std::string together = "left + right + middle";
  EXPECT_THAT(names, testing::UnorderedElementsAre("left", "right", "kind", "middle", together));
  EXPECT_EQ(names.back(), together);
  EXPECT_THAT(content_of(folder_ / "bars.svg"), HasSubstr(together));
}

/// p = a + b with b = -a, which one permutation of both leaves as it is.
TEST_F(ImportanceOfTables, gives_columns_that_go_together_one_permutation) {
  std::string rows = "a,b\n";
  for (int i = 0; i < 20; ++i) rows += std::to_string(i) + "," + std::to_string(-i) + "\n";
  write_content(folder_ / "t.csv", rows);
  const DataFlow flow = make_flow(parse_yaml(
      "[{CSV: {file: t.csv, columns: {x: [a, b]}}}, {BatchData: {batch_size: 8, remainder: true}}]",
      folder_ / "flow.yaml"));
  flow.prepare();
  const auto model = model_of(
      "inputs: {x: {shape: [2]}}\nlayers: [{ReduceSum: {name: p, input: x, axes: [1]}}]\n"
      "cost: [MeanSquaredError: {predictions: p, targets: 0}]\n");
  InferenceTower tower(*model, make_reference_device("cpu:0", {}));
  Evaluator evaluator("validation", tower.handle(), flow, 1);
  const ImportanceTable table(evaluator, importance_units(evaluator, model->inputs(), flow),
                              {.statistic = "cost"});
  ASSERT_EQ(table.rows().size(), 3U);
  EXPECT_GT(table.rows()[1].low, 0);
  EXPECT_EQ(table.rows()[2].name, "a + b");
  EXPECT_EQ(table.rows()[2].values, std::vector<double>(10));
}

TEST_F(ImportanceOfTables, permutes_a_column_in_all_rows_of_a_window) {
  write_content(folder_ / "t.csv", "a,b,y\n1,2,3\n4,5,6\n7,8,9\n");
  const DataFlow flow = make_flow(
      parse_yaml("[{Windows: {source: {CSV: {file: t.csv, columns: {x: [a, b], y: y}}}, length: 2, targets: "
                 "[y]}}, {BatchData: {batch_size: 1}}]",
                 folder_ / "flow.yaml"));
  flow.prepare();
  const auto model = model_of(
      "inputs: {x: {shape: [2, 2]}, y: {shape: []}}\n"
      "layers: [{FullyConnected: {name: p, input: x, units: 1}}]\n"
      "cost: [MeanSquaredError: {predictions: p, targets: y}]\n");
  InferenceTower tower(*model, make_reference_device("cpu:0", {}));
  const auto units =
      importance_units(Evaluator("validation", tower.handle(), flow, 1), model->inputs(), flow);
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].name, "a");
  EXPECT_THAT(units[0].places, testing::ElementsAre(0, 2));
  EXPECT_THAT(units[1].places, testing::ElementsAre(1, 3));
}

TEST(ImportanceOfVectors, says_that_many_numbers_are_not_compared) {
  for (const int numbers : {400, 401}) {
    const std::string count = std::to_string(numbers);
    const auto model =
        model_of("inputs: {x: {shape: [" + count +
                 "]}, y: {shape: [1]}}\nlayers: [{FullyConnected: {name: p, input: x, units: 1}}]\n"
                 "cost: [MeanSquaredError: {predictions: p, targets: y}]\n");
    InferenceTower tower(*model, make_reference_device("cpu:0", {}));
    const DataFlow flow =
        make_flow(parse_yaml("[{FakeData: {shapes: [[" + count +
                                 "], [1]], names: [x, y], size: 4}}, {BatchData: {batch_size: 4}}]",
                             "t.yaml"));
    Evaluator evaluator("validation", tower.handle(), flow, 1);
    testing::internal::CaptureStderr();
    const ImportanceTable table(evaluator, importance_units(evaluator, model->inputs(), flow),
                                {.statistic = "cost", .repeats = 1});
    EXPECT_EQ(testing::internal::GetCapturedStderr().find("401 numbers") != std::string::npos, numbers > 400);
    EXPECT_EQ(std::ssize(table.rows()) > numbers, numbers <= 400) << "4 samples go together by chance";
  }
}

}  // namespace
}  // namespace tpack
