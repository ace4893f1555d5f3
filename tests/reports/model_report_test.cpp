#include "reports/model_report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cpu/onednn/onednn.h"
#include "experiment/check.h"
#include "support/program_runner.h"
#include "tensor/dtype.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Two convolutions with an op between them that has no kernel for floats of 16 bits.
constexpr const char* kConfig = R"(tpack: 1
max_epoch: 1
data:
  train:
    - FakeData: {shapes: [[8, 8, 1], []], dtype: [uint8, int32], names: [image, label], size: 8, domain: [0, 3]}
    - BatchData: 4
model:
  inputs:
    image: {shape: [8, 8, 1], dtype: uint8, layout: HWC}
    label: {shape: [], dtype: int32}
  layers:
    - Normalize: {name: scaled, scale: 0.5}
    - Conv2D: {name: first, filters: 16}
    - CumulativeSum: {name: sums}
    - MaxPooling: {name: pooled, window: 2}
    - Conv2D: {name: second, filters: 16}
    - FullyConnected: {name: logits, units: 3}
  cost: [SoftmaxCrossEntropy: {logits: logits, labels: label}]
optimizer: SGD
engine: {threads: 1, algorithm: direct}
)";

class ModelReportOf : public testing::Test {
 protected:
  ModelReportOf() { write_content(config(), kConfig); }
  std::string config() const { return folder_ / "a.yaml"; }
  ModelReport report_with(const std::vector<std::string>& overrides) const {
    CheckedExperiment checked(config(), overrides, true);
    return report_model(checked);
  }
  /// `tpack check --json` with a processor that has no products of bfloat16.
  nlohmann::json without_products() const {
    testing_cli::Process process({"env", "ONEDNN_MAX_CPU_ISA=AVX2", testing_cli::program(), "check", config(),
                                  "--precision", "bf16", "--json"},
                                 folder_ / "out");
    EXPECT_EQ(process.wait(), 0);
    EXPECT_THAT(process.err(), HasSubstr("no products in bfloat16"));
    return nlohmann::json::parse(content_of(folder_ / "out"));
  }

 private:
  TemporaryFolder folder_;
};

const LayerReport& layer_of(const ModelReport& report, const std::string& name) {
  return *std::ranges::find(report.layers, name, &LayerReport::name);
}

TEST_F(ModelReportOf, bf16_shows_the_type_of_each_output_and_product) {
  if (!cpu::has_products_of(DType::kBFloat16)) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const ModelReport report = report_with({"engine.precision=bf16"});
  const std::set<DType> half = {DType::kBFloat16};
  const std::set<DType> single = {DType::kFloat32};
  EXPECT_EQ(layer_of(report, "scaled").stored, half);
  EXPECT_EQ(layer_of(report, "first").stored, single) << "sums reads it in float32";
  EXPECT_EQ(layer_of(report, "sums").stored, single);
  EXPECT_EQ(layer_of(report, "second").stored, half);
  EXPECT_EQ(layer_of(report, "logits").stored, single);
  EXPECT_TRUE(layer_of(report, "label").stored.empty());
  // A product and the gradients of its two factors are products; data have no gradient.
  EXPECT_EQ(layer_of(report, "first").products.all, 2);
  EXPECT_EQ(layer_of(report, "second").products.in_half, 3);
  EXPECT_EQ(report.products.all, 8);
  EXPECT_EQ(report.products.in_half, 8);
  EXPECT_THAT(report.str(), HasSubstr("bfloat16 products"));
  const auto root = report.to_json();
  EXPECT_EQ(root.at("precision"), "bf16");
  EXPECT_THAT(root.at("layers").back().at("stored"), ElementsAre("float32"));
  EXPECT_EQ(root.at("layers").back().at("products").at("in_half"), 3);
}

/// Weights of large layers are float32 in memory, and rounded while they are multiplied.
TEST_F(ModelReportOf, bf16_counts_products_that_round_a_factor_themselves) {
  if (!cpu::has_products_of(DType::kBFloat16)) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const ModelReport report =
      report_with({"engine.precision=bf16", "data.train.BatchData=128", "data.train.FakeData.size=256",
                   "model.layers.4.Conv2D.filters=32"});
  EXPECT_EQ(layer_of(report, "logits").products.all, 3);
  EXPECT_EQ(layer_of(report, "logits").products.in_half, 3);
  const ModelReport wide =
      report_with({"engine.precision=bf16", "data.train.BatchData=128", "data.train.FakeData.size=256",
                   "model.layers.5.FullyConnected.units=300"});
  EXPECT_EQ(layer_of(wide, "logits").products.in_half, 3);
}

TEST_F(ModelReportOf, fp32_says_nothing_of_types) {
  const ModelReport report = report_with({});
  EXPECT_EQ(report.products.in_half, 0);
  EXPECT_THAT(report.str(), Not(HasSubstr("stored")));
  EXPECT_FALSE(report.to_json().contains("precision"));
  EXPECT_FALSE(report.to_json().at("layers").back().contains("stored"));
}

TEST_F(ModelReportOf, a_processor_or_backend_without_such_products_shows_none) {
  const ModelReport reference = report_with({"engine.precision=bf16", "engine.backend=reference"});
  EXPECT_EQ(reference.products.all, 8);
  EXPECT_EQ(reference.products.in_half, 0);
  EXPECT_EQ(layer_of(reference, "second").stored, std::set<DType>{DType::kFloat32});
  const nlohmann::json widened = without_products();
  EXPECT_EQ(widened.at("products"), nlohmann::json({{"all", 8}, {"in_half", 0}}));
}

}  // namespace
}  // namespace tpack
