#include <cmath>

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/sample_error.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

/// The values of component 0 of all samples.
std::vector<float> values_of(const DataFlow& flow) {
  const auto cursor = flow.open({});
  std::vector<float> all;
  Datapoint d;
  while (cursor->next(d)) {
    const Tensor& x = d.to_tensor(0);
    all.insert(all.end(), x.data<float>(), x.data<float>() + x.elements());
  }
  return all;
}

/// Each place, with so many elements from one to the next, has mean 0 and deviation 1.
void expect_standard(const std::vector<float>& values, size_t places, size_t step) {
  for (size_t place = 0; place < places; ++place) {
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i / step % places != place) continue;
      sum += static_cast<double>(values[i]);
      squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    const auto count = static_cast<double>(values.size() / places);
    EXPECT_NEAR(sum / count, 0, 1e-5) << "place " << place;
    EXPECT_NEAR(squares / count, 1, 1e-5) << "place " << place;
  }
}

class Standardized : public testing::Test {
 protected:
  std::string csv(const std::string& name, const std::string& rows) {
    write_content(folder_ / name, rows);
    return "{CSV: {file: " + (folder_ / name) +
           ", header: false, shuffle: false, columns: {x: [\"0\", \"1\"]}}}";
  }
  TemporaryFolder folder_;
};

TEST_F(Standardized, each_column_has_mean_0_and_deviation_1_of_the_training_data) {
  // Large numbers that differ little: sums of squares would lose all digits.
  const DataFlow train =
      yaml_flow("[" + csv("a.csv", "10000001,1\n10000003,1\n10000002,1\n") + ", {Standardize: x}]");
  const auto d = static_cast<float>(std::sqrt(1.5));
  EXPECT_THAT(values_of(train), testing::Pointwise(testing::FloatNear(1e-6F), {-d, 0.F, d, 0.F, 0.F, 0.F}))
      << "a column that is the same everywhere is 0";
  const auto fit = std::make_shared<Fit>(train);
  const DataFlow other = yaml_flow("[" + csv("b.csv", "10000004,3\n") + ", {Standardize: x}]", fit);
  EXPECT_THAT(values_of(other), testing::Pointwise(testing::FloatNear(1e-6F), {2 * d, 2.F}));
  const auto stored = std::make_shared<Fit>(fitted_data(train));
  EXPECT_EQ(values_of(yaml_flow("[" + csv("b.csv", "10000004,3\n") + ", {Standardize: x}]", stored)),
            values_of(other))
      << "what is stored has the same bits";
}

TEST_F(Standardized, is_the_same_for_any_number_of_workers) {
  const auto values_with = [](const std::string& workers) {
    const DataFlow flow = yaml_flow(
        "{flow: [{FakeData: {size: 50, shapes: [[4, 3]], dtype: [float32]}}, {Standardize: 0}, {BatchData: "
        "{batch_size: 7, remainder: true}}], workers: " +
        workers + "}");
    std::vector<float> all;
    auto stream = flow.stream({.passes = 1});
    while (auto batch = stream->next()) {
      const auto values = batch->tensor(0).span<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  const std::vector<float> all = values_with("1");
  EXPECT_EQ(values_with("3"), all);
  ASSERT_EQ(all.size(), 600U);
  expect_standard(all, 3, 1);
}

TEST_F(Standardized, goes_by_its_component_not_by_its_place) {
  write_content(folder_ / "two.csv", "a,b\n1,100\n3,300\n");
  const auto flow = [&](const std::string& maps, const std::shared_ptr<Fit>& fit = nullptr) {
    return yaml_flow(
        "[{CSV: {file: " + (folder_ / "two.csv") + ", shuffle: false, columns: {x: a, y: b}}}, " + maps + "]",
        fit);
  };
  const auto fit = std::make_shared<Fit>(flow("{Standardize: x}, {Standardize: y}"));
  EXPECT_EQ(values_of(flow("{Standardize: y}, {Standardize: x}", fit)), (std::vector<float>{-1, 1}));
  EXPECT_EQ(values_of(flow("{Standardize: x}", fit)), (std::vector<float>{-1, 1}));
  const DataFlow alone = flow("{Standardize: y}", fit);
  Datapoint d = first_sample(alone);
  EXPECT_EQ(d.to_tensor(1).at(0), -1);
}

TEST_F(Standardized, leaves_out_the_samples_that_the_flow_leaves_out) {
  write_content(folder_ / "gaps.csv", "a,b\n1,0\n,0\n3,0\n,0\n");
  const std::string list =
      "[{CSV: {file: " + (folder_ / "gaps.csv") +
      ", shuffle: false, columns: {x: a}}}, {Standardize: x}, {BatchData: {batch_size: 1, remainder: true}}]";
  EXPECT_THROW(yaml_flow(list).prepare(), SampleError);
  EXPECT_EQ(values_of(yaml_flow("{flow: " + list + ", on_error: skip}")), (std::vector<float>{-1, 1}));
}

TEST_F(Standardized, may_be_of_another_axis) {
  const DataFlow flow = yaml_flow(
      "[{FakeData: {size: 40, shapes: [[2, 3, 5]], dtype: [float32]}}, {Standardize: {component: 0, axis: "
      "0}}]");
  const std::vector<float> all = values_of(flow);
  ASSERT_EQ(all.size(), 1200U);
  expect_standard(all, 2, 15);
}

TEST_F(Standardized, of_a_joined_flow_is_found_by_its_own) {
  write_content(folder_ / "two.csv", "a,b\n1,100\n3,300\n");
  const auto part = [&](const std::string& name, const std::string& column) {
    return "[{CSV: {file: " + (folder_ / "two.csv") + ", shuffle: false, columns: {" + name + ": " + column +
           "}}}, {Standardize: " + name + "}]";
  };
  const auto fit =
      std::make_shared<Fit>(yaml_flow("[JoinData: [" + part("x", "a") + ", " + part("y", "b") + "]]"));
  EXPECT_EQ(values_of(yaml_flow(part("y", "b"), fit)), (std::vector<float>{-1, 1}));
  EXPECT_EQ(values_of(yaml_flow("[JoinData: [" + part("y", "b") + ", " + part("x", "a") + "]]", fit)),
            (std::vector<float>{-1, 1}));
}

TEST_F(Standardized, says_what_it_cannot_do) {
  expect_errors(
      [](const std::string& data) {
        yaml_flow("[{FakeData: {size: 8, dtype: [float32], shapes: " + data).prepare();
      },
      {{"[[]]}}, {BatchData: 4}, {Standardize: 0}]", {"takes samples", "put it before BatchData"}},
       {"[[2]]}}, {Standardize: {component: 0, axis: 3}}]", {"which has no axis 3"}},
       {"[[2]]}}, RepeatedData, {Standardize: 0}]", {"data that end", "put RepeatedData after it"}}});
  const auto nothing = std::make_shared<Fit>(FittedData());
  EXPECT_TRUE(fails(
      [&] {
        yaml_flow("[{FakeData: {size: 3, shapes: [[2]], dtype: [float32]}}, {Standardize: 0}]", nothing)
            .prepare();
      },
      {"flow.yaml:1:59: ", "fitted maps of data.train", "no map 'standardize "}));
}

}  // namespace
}  // namespace tpack
