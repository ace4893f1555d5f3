#include <cmath>

#include <gtest/gtest.h>

#include "golden/golden.h"
#include "layers/metric_value.h"

namespace tpack {
namespace {

using golden::Json;

const Json& sets() {
  static const Json all = golden::read("metrics.json").at("cases");
  return all;
}

/// A small set of samples, and the values of metrics over it.
class GoldenMetrics : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    case_ = *std::find_if(sets().begin(), sets().end(),
                          [&](const Json& c) { return c.at("name") == GetParam(); });
    for (const auto& [name, input] : case_.at("inputs").items()) {
      names_.push_back(name);
      const Tensor values = Tensor::of(Shape(input.at("shape").get<std::vector<int64_t>>()),
                                       input.at("values").get<std::vector<double>>());
      tensors_.push_back(input.contains("dtype") ? values.cast(DType::kInt32) : values);
    }
  }

  /// All samples in one batch, one by one, in uneven parts.
  std::vector<std::vector<int64_t>> cuts() const {
    const int64_t samples = tensors_.at(0).shape()[0];
    std::vector<std::vector<int64_t>> all = {{samples},
                                             std::vector<int64_t>(static_cast<size_t>(samples), 1)};
    if (samples > 5) all.push_back({5, 1, samples - 6});
    if (samples == 6) all.back().pop_back();
    return all;
  }

  Json case_;
  std::vector<std::string> names_;
  std::vector<Tensor> tensors_;
};

TEST_P(GoldenMetrics, are_the_same_for_all_batches_and_towers) {
  for (const auto& [yaml, golden] : case_.at("values").items()) {
    const MetricOfSamples metric{yaml, names_, tensors_};
    const double expected = golden.is_null() ? NAN : golden.at(0).get<double>();
    for (const std::vector<int64_t>& batches : cuts()) {
      for (const size_t towers : {size_t{1}, size_t{2}, size_t{4}}) {
        for (const auto on : {MetricOfSamples::On::kReference, MetricOfSamples::On::kCpu}) {
          if (on == MetricOfSamples::On::kCpu && batches.size() > 3) continue;  // compiles for each batch
          const double value = metric.value(batches, towers, on);
          EXPECT_EQ(std::isnan(value), golden.is_null()) << yaml << ": " << value;
          if (golden.is_null()) continue;
          const double tolerance = on == MetricOfSamples::On::kCpu ? 1e-6 : 1e-12;
          EXPECT_NEAR(value, expected, tolerance * std::max(1.0, std::abs(expected)))
              << yaml << " in " << batches.size() << " batches on " << towers << " towers";
        }
      }
    }
  }
}

std::vector<std::string> names_of_cases() {
  std::vector<std::string> names;
  for (const Json& c : sets()) names.push_back(c.at("name"));
  return names;
}
INSTANTIATE_TEST_SUITE_P(Sets, GoldenMetrics, testing::ValuesIn(names_of_cases()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tpack
