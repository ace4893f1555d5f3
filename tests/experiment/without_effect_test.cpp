#include "experiment/without_effect.h"

#include <filesystem>
#include <set>

#include <gmock/gmock-matchers.h>

#include "experiment/check.h"
#include "support/captured_log.h"
#include "support/paths.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What `check` says of a model of two inputs of 4 numbers, x and z, with layers of 4 units.
class WithoutEffect : public testing::Test {
 protected:
  std::string said(const std::string& layers, const std::string& more = "") {
    write_content(folder_ / "c.yaml", R"(tpack: 1
data:
  train:
    - FakeData: {shapes: [[4], [4], []], dtype: [float32, float32, int32], names: [x, z, y], domain: [0, 4]}
    - BatchData: {batch_size: 4}
model:
  inputs: {x: {shape: [4]}, z: {shape: [4]}, y: {shape: [], dtype: int32}}
  layers:
)" + layers + R"(
  cost: [SoftmaxCrossEntropy: {logits: p, labels: y}]
  metrics: [Accuracy: {logits: p, labels: y}]
optimizer: SGD
max_epoch: 1
callbacks: [ModelSaver)" + (more.empty() ? "" : ", " + more) +
                                          "]\n");
    const CapturedLog log;
    CheckedExperiment checked(folder_ / "c.yaml", sets_, true);
    return log.text();
  }

  TemporaryFolder folder_;
  std::vector<std::string> sets_;
};

constexpr const char* kP = "    - FullyConnected: {name: p, units: 4, input: x}\n";

TEST_F(WithoutEffect, have_layers_that_nothing_takes) {
  const std::string all = said(
      "    - FullyConnected: {name: a, units: 4, input: z}\n"
      "    - BatchNorm: {name: n}\n" +
      std::string(kP));
  EXPECT_THAT(all, HasSubstr("c.yaml:9:7: nothing uses the output of layers a, n; connect them with "
                             "`input`, or remove them"));
  EXPECT_THAT(all, Not(HasSubstr("a/W"))) << "their variables need no warning of their own";
}

TEST_F(WithoutEffect, have_many_layers_that_are_counted) {
  std::string layers;
  for (int i = 0; i < 9; ++i)
    layers += "    - FullyConnected: {name: a" + std::to_string(i) + ", units: 4}\n";
  EXPECT_THAT(said(layers + kP), HasSubstr("layers a0, a1, a2, a3, a4, a5 and 3 more"));
}

TEST_F(WithoutEffect, have_variables_behind_which_no_gradient_passes) {
  const std::string all = said(
      "    - FullyConnected: {name: a, units: 4}\n"
      "    - StopGradient\n"
      "    - FullyConnected: {name: p, units: 4}\n");
  EXPECT_THAT(all, HasSubstr("the cost does not depend on variables a/W, a/b"));
  sets_ = {"freeze=a"};
  EXPECT_THAT(said("    - FullyConnected: {name: a, units: 4}\n"
                   "    - StopGradient\n"
                   "    - FullyConnected: {name: p, units: 4}\n"),
              Not(HasSubstr("warning")));
}

TEST_F(WithoutEffect, has_nothing_that_is_used_anywhere) {
  const std::string last = std::string(kP) + "    - Softmax: {name: probability}\n";
  EXPECT_THAT(said(last), Not(HasSubstr("warning"))) << "it may be predicted later";
  const std::string first = "    - FullyConnected: {name: a, units: 4, input: z}\n" + std::string(kP);
  EXPECT_THAT(said(first), HasSubstr("nothing uses the output of layer a"));
  EXPECT_THAT(said(first, "DumpTensors: {outputs: [a]}"), Not(HasSubstr("nothing uses")));
  EXPECT_THAT(said(first, "DumpTensors: {outputs: [\"[ab]\"]}"), Not(HasSubstr("nothing uses")));
  sets_ = {"predict={data: train, outputs: [a]}"};
  EXPECT_THAT(said(first), Not(HasSubstr("nothing uses")));
  sets_ = {"predict={data: train, outputs: [p]}"};
  EXPECT_THAT(said(last), HasSubstr("nothing uses the output of layer probability"))
      << "predict says what is wanted";
}

/// Of this project: each part has its effect, in GANs and with target networks, too.
TEST(WithoutEffectConfigs, have_no_warning) {
  const std::set<std::string> need_files = {"caffe-lmdb.yaml", "digits-records.yaml", "multi-label.yaml",
                                            "regression.yaml"};
  for (const char* folder : {"/configs", "/bench/configs"}) {
    for (const auto& file : std::filesystem::directory_iterator(source_folder() + folder)) {
      if (need_files.contains(file.path().filename())) continue;
      const CapturedLog log;
      try {
        CheckedExperiment checked(file.path(), {}, false);
      } catch (const Error& error) {
        ADD_FAILURE() << file.path() << ": " << error.what();
      }
      EXPECT_THAT(log.text(), Not(HasSubstr("nothing uses"))) << file.path();
      EXPECT_THAT(log.text(), Not(HasSubstr("does not depend"))) << file.path();
    }
  }
}

}  // namespace
}  // namespace tpack
