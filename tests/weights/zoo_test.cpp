#include "config/zoo.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "core/text.h"
#include "experiment/check.h"
#include "learner/inference_model.h"
#include "reports/model_report.h"
#include "support/python.h"
#include "support/temporary_folder.h"
#include "weights/import_weights.h"
#include "weights/weight_file.h"

namespace tpack {
namespace {

/// The smallest network of each page of models/zoo and source. If TPACK_ZOO is set: each network.
std::vector<ZooNetwork> networks_to_run() {
  if (std::getenv("TPACK_ZOO") != nullptr) return zoo_networks();
  std::map<std::pair<std::string, std::string>, ZooNetwork> smallest;
  for (const ZooNetwork& network : zoo_networks()) {
    ZooNetwork& kept = smallest[{network.page, network.source}];
    if (kept.name.empty() || network.parameters < kept.parameters) kept = network;
  }
  std::vector<ZooNetwork> all;
  for (const auto& [key, network] : smallest) all.push_back(network);
  return all;
}

std::string config_of(const std::string& name, int side, const std::string& outputs = "logits") {
  const std::string size = std::to_string(side);
  return "tpack: 1\ninclude: zoo:" + name + "\nvars: {side: " + size +
         "}\nengine: {threads: 1, algorithm: heuristic}\ndata: {train: [{FakeData: {shapes: [[" + size +
         ", " + size +
         ", 3], []], dtype: [uint8, int32], names: [image, label], size: 4}}, BatchData: 2]}\n"
         "optimizer: {Momentum: {learning_rate: 0.1}}\nmax_epoch: 1\npredict: {data: train, outputs: [" +
         outputs + "]}\n";
}

std::string test_name(const testing::TestParamInfo<ZooNetwork>& one) {
  std::string name = one.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

class ZooSizes : public testing::TestWithParam<ZooNetwork> {};
INSTANTIATE_TEST_SUITE_P(Networks, ZooSizes, testing::ValuesIn(zoo_networks()), test_name);

TEST_P(ZooSizes, are_the_published_ones) {
  const TemporaryFolder folder;
  write_content(folder / "net.yaml", config_of(GetParam().name, 224));
  CheckedExperiment checked(folder / "net.yaml", {}, false);
  const ModelReport report = report_model(checked);
  EXPECT_EQ(report.parameters, GetParam().parameters);
  const double gmacs = report.forward_flops / 2 / 2 / 1e9;  // two images
  EXPECT_NEAR(gmacs, GetParam().gmacs, 0.0006);
}

class ZooOutputs : public testing::TestWithParam<ZooNetwork> {};
INSTANTIATE_TEST_SUITE_P(Networks, ZooOutputs, testing::ValuesIn(networks_to_run()), test_name);

TEST_P(ZooOutputs, are_those_of_the_source_with_the_same_weights) {
  const std::string python = torch_python();
  if (python.empty()) GTEST_SKIP() << kNoTorch;
  const std::string& name = GetParam().name;
  // Fully connected layers need the published size.
  const bool has_dense = GetParam().page == "vgg" || GetParam().page == "alexnet";
  const int pixels = has_dense ? 224 : 64;
  const TemporaryFolder folder;
  const PythonResult made =
      run_command(python + " '" + source_folder() + "/tests/python/write_zoo_files.py' '" + folder.str() +
                  "' " + name + " " + std::to_string(pixels) + " 2>&1");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const WeightFile expected = open_weight_file(folder / (name + ".npz"));
  std::vector<std::string> outputs;
  for (const FileWeight& array : expected.weights)
    if (array.name != "image") outputs.push_back(array.name);
  ASSERT_EQ(outputs.front(), "logits");
  write_content(folder / "net.yaml", config_of(name, pixels, join(outputs, ", ")));
  const WeightsReport report =
      import_weights({.file = folder / (name + ".pth"), .config = folder / "net.yaml"}, folder / "net.h5");
  EXPECT_TRUE(report.weights.missing.empty()) << report.weights.str("the file");
  EXPECT_TRUE(report.weights.mismatched.empty()) << report.weights.str("the file");
  const auto all =
      InferenceModel::load(folder / "net.h5")->predict({{"image", expected.find("image")->read()}});
  for (const std::string& output : outputs) {
    const Tensor& got = all.at(output);
    const Tensor want = expected.find(output)->read();
    ASSERT_EQ(got.spec(), want.spec());
    double largest = 0;
    for (int64_t i = 0; i < want.elements(); ++i) largest = std::max(largest, std::abs(want.at(i)));
    for (int64_t i = 0; i < want.elements(); ++i)
      ASSERT_NEAR(got.at(i), want.at(i), 1e-4 * largest) << output << " " << i;
  }
}

}  // namespace
}  // namespace tpack
