#include <cmath>

#include <gmock/gmock.h>

#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ThrowsMessage;

DataFlow flow_of(const std::string& yaml, const std::shared_ptr<Fit>& fit = nullptr) {
  Diagnostics errors;
  auto flow = make_flow(parse_yaml(yaml, "flow.yaml"), {}, errors, fit);
  errors.throw_if_any();
  return std::move(*flow);
}

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
      flow_of("[" + csv("a.csv", "10000001,1\n10000003,1\n10000002,1\n") + ", {Standardize: x}]");
  const auto d = static_cast<float>(std::sqrt(1.5));
  EXPECT_THAT(values_of(train), testing::Pointwise(testing::FloatNear(1e-6F), {-d, 0.F, d, 0.F, 0.F, 0.F}))
      << "a column that is the same everywhere is 0";
  const auto fit = std::make_shared<Fit>(train);
  const DataFlow other = flow_of("[" + csv("b.csv", "10000004,3\n") + ", {Standardize: x}]", fit);
  EXPECT_THAT(values_of(other), testing::Pointwise(testing::FloatNear(1e-6F), {2 * d, 2.F}));
  const auto stored = std::make_shared<Fit>(fitted_data(train));
  EXPECT_EQ(values_of(flow_of("[" + csv("b.csv", "10000004,3\n") + ", {Standardize: x}]", stored)),
            values_of(other))
      << "what is stored has the same bits";
}

TEST_F(Standardized, is_the_same_for_any_number_of_workers_and_any_order) {
  const DataFlow flow = flow_of(
      "{flow: [{FakeData: {size: 50, shapes: [[4, 3]], dtype: [float32]}}, {Standardize: 0}, {BatchData: "
      "{batch_size: 7}}], workers: 3}");
  std::vector<double> sum(3);
  std::vector<double> squares(3);
  int64_t count = 0;
  auto stream = flow.stream({.passes = 1});
  while (auto batch = stream->next()) {
    const Tensor& x = batch->tensor(0);
    for (int64_t i = 0; i < x.elements(); ++i) {
      sum[static_cast<size_t>(i % 3)] += x.at(i);
      squares[static_cast<size_t>(i % 3)] += x.at(i) * x.at(i);
    }
    count += x.elements() / 3;
  }
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(sum[k] / static_cast<double>(count), 0, 0.05)
        << "a part of the rows is left out by the batches";
    EXPECT_NEAR(squares[k] / static_cast<double>(count), 1, 0.05);
  }
}

TEST_F(Standardized, says_what_it_cannot_do) {
  EXPECT_THAT(
      [&] {
        flow_of("[{FakeData: {size: 3, shapes: [[2]], dtype: [float32]}}, RepeatedData, {Standardize: 0}]")
            .prepare();
      },
      ThrowsMessage<ConfigError>(
          testing::HasSubstr("a map that is fitted needs data that end; put RepeatedData after it")));
  const auto nothing = std::make_shared<Fit>(FittedData());
  EXPECT_THAT(
      [&] {
        flow_of("[{FakeData: {size: 3, shapes: [[2]], dtype: [float32]}}, {Standardize: 0}]", nothing)
            .prepare();
      },
      ThrowsMessage<ConfigError>(
          testing::StartsWith("flow.yaml:1:59: it is the map standardize_0 of its flow")));
}

}  // namespace
}  // namespace tpack
