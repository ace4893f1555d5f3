#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "experiment/check.h"
#include "learner/inference_model.h"
#include "reports/model_report.h"
#include "support/python.h"
#include "support/temporary_folder.h"
#include "weights/import_weights.h"
#include "weights/weight_file.h"

namespace tpack {
namespace {

/// models/zoo.yaml.
const ConfigNode& zoo() {
  static const ConfigNode kZoo =
      parse_yaml(content_of(source_folder() + "/models/zoo.yaml"), "models/zoo.yaml");
  return kZoo;
}

std::vector<std::string> names_of_zoo() {
  std::vector<std::string> names;
  for (const ConfigNode::Entry& entry : zoo().entries()) names.push_back(entry.key);
  return names;
}

/// The smallest network of each page of models/zoo. TPACK_ZOO=all: each network.
std::vector<std::string> networks_to_run() {
  if (std::getenv("TPACK_ZOO") != nullptr) return names_of_zoo();
  std::map<std::string, std::string> smallest;
  for (const ConfigNode::Entry& entry : zoo().entries()) {
    std::string& name = smallest[entry.value.find("page")->text()];
    if (name.empty() ||
        entry.value.find("parameters")->as_int() < zoo().find(name)->find("parameters")->as_int())
      name = entry.key;
  }
  std::vector<std::string> names;
  for (const auto& [page, name] : smallest) names.push_back(name);
  return names;
}

std::string config_of(const std::string& name, int side) {
  const std::string size = std::to_string(side);
  return "tpack: 1\ninclude: zoo:" + name + "\nvars: {side: " + size +
         "}\nengine: {threads: 1, algorithm: heuristic}\ndata: {train: [{FakeData: {shapes: [[" + size +
         ", " + size +
         ", 3], []], dtype: [uint8, int32], names: [image, label], size: 4}}, BatchData: 2]}\n"
         "optimizer: {Momentum: {learning_rate: 0.1}}\nmax_epoch: 1\npredict: {data: train, outputs: "
         "[logits]}\n";
}

std::string test_name(const testing::TestParamInfo<std::string>& one) {
  std::string name = one.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

class ZooSizes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Networks, ZooSizes, testing::ValuesIn(names_of_zoo()), test_name);

TEST_P(ZooSizes, are_the_published_ones) {
  const ConfigNode& row = *zoo().find(GetParam());
  const TemporaryFolder folder;
  write_content(folder / "net.yaml", config_of(GetParam(), 224));
  CheckedExperiment checked(folder / "net.yaml", {}, false);
  const ModelReport report = report_model(checked);
  EXPECT_EQ(report.parameters, row.find("parameters")->as_int());
  const double gmacs = report.forward_flops / 2 / 2 / 1e9;  // two images
  EXPECT_NEAR(gmacs, row.find("gmacs")->as_double(), 0.0006);
}

class ZooOutputs : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Networks, ZooOutputs, testing::ValuesIn(networks_to_run()), test_name);

TEST_P(ZooOutputs, are_those_of_torchvision_with_the_same_weights) {
  std::string python = run_command("'" + source_folder() + "/scripts/torch_python.sh'").output;
  python.erase(std::min(python.find('\n'), python.size()));
  if (python.empty()) GTEST_SKIP() << "no Python has PyTorch: run scripts/torch_python.sh --install";
  const ConfigNode* const side = zoo().find(GetParam())->find("smallest_side");
  const int pixels = side == nullptr ? 64 : static_cast<int>(side->as_int());
  const TemporaryFolder folder;
  const PythonResult made =
      run_command(python + " '" + source_folder() + "/tests/python/write_torchvision_files.py' '" +
                  folder.str() + "' " + GetParam() + " " + std::to_string(pixels) + " 2>&1");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  write_content(folder / "net.yaml", config_of(GetParam(), pixels));
  const WeightsReport report = import_weights(
      {.file = folder / (GetParam() + ".pth"), .config = folder / "net.yaml"}, folder / "net.h5");
  EXPECT_TRUE(report.weights.missing.empty()) << report.weights.str("the file");
  EXPECT_TRUE(report.weights.mismatched.empty()) << report.weights.str("the file");
  const WeightFile expected = open_weight_file(folder / (GetParam() + ".npz"));
  const Tensor got = InferenceModel::load(folder / "net.h5")
                         ->predict({{"image", expected.find("image")->read()}})
                         .at("logits");
  const Tensor want = expected.find("logits")->read();
  ASSERT_EQ(got.spec(), want.spec());
  double largest = 0;
  for (int64_t i = 0; i < want.elements(); ++i) largest = std::max(largest, std::abs(want.at(i)));
  for (int64_t i = 0; i < want.elements(); ++i) ASSERT_NEAR(got.at(i), want.at(i), 1e-4 * largest) << i;
}

}  // namespace
}  // namespace tpack
