// Trains configs of configs/ on one batch: what a network cannot learn by heart, it cannot learn.
#include <nlohmann/json.hpp>

#include "core/rng.h"
#include "draw/png.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using testing_cli::exits;
using testing_cli::joined;
using testing_cli::tpack;
using testing_cli::Words;

/// Eight pictures of noise in four folders, which are classes.
class OneBatch : public testing::Test {
 protected:
  /// Writes them, and returns the flow of the batch.
  std::string noise(int64_t side) const {
    Rng rng(1);
    for (int i = 0; i < 8; ++i) {
      Tensor image(DType::kUInt8, {side, side, 3});
      for (uint8_t& value : image.span<uint8_t>()) value = static_cast<uint8_t>(rng.range(0, 255));
      const std::string class_folder = folder_ / ("noise/" + std::to_string(i % 4));
      std::filesystem::create_directories(class_folder);
      write_content(class_folder + "/" + std::to_string(i) + ".png", encode_png(image).at(0).png);
    }
    return "[{ImageFolder: {dir: " + (folder_ / "noise") +
           "}}, {AugmentImageComponent: [{Resize: " + std::to_string(side) + "}]}, {BatchData: 8}]";
  }
  /// The statistics of the epochs of 20 steps, in which the config trains on the batch.
  nlohmann::json trained(const std::string& config, const std::string& batch, int epochs,
                         const Words& settings) const {
    Words words = {"train", source_folder() + "/configs/" + config + ".yaml", "--log-dir", folder_ / "run"};
    for (const std::string& setting :
         joined({"data.train=" + batch, "data.validation=" + batch, "steps_per_epoch=20",
                 "max_epoch=" + std::to_string(epochs), "engine={threads: 2, algorithm: heuristic}"},
                settings)) {
      words.emplace_back("--set");
      words.push_back(setting);
    }
    exits(0, tpack(words));
    return nlohmann::json::parse(content_of(folder_ / "run/stats.json"));
  }
  /// Statistics are moving averages of the steps; guesses have an accuracy of 0.25.
  static void expect_learned(const nlohmann::json& epochs) {
    EXPECT_LT(epochs.back().at("cost"), 0.5 * epochs.front().at("cost").get<double>());
    EXPECT_GT(epochs.back().at("accuracy"), 0.9);
  }

  TemporaryFolder folder_;
};

TEST_F(OneBatch, is_learned_by_svhn_convnet) { expect_learned(trained("svhn-convnet", noise(40), 3, {})); }

TEST_F(OneBatch, is_learned_by_alexnet_dorefa) {
  expect_learned(trained("alexnet-dorefa", noise(64), 3,
                         {"vars.side=64", "vars.classes=4", "model.layers.fc0.units=64",
                          "model.layers.fc1.units=64", "optimizer.Adam.learning_rate=0.001"}));
}

TEST_F(OneBatch, is_learned_by_cifar_preact18_mixup) {
  expect_learned(trained("cifar-preact18-mixup", noise(32), 2, {"optimizer.Momentum.learning_rate=0.01"}));
}

/// A decoder that draws one picture for all codes has a cross entropy above 0.3. If codes do not depend on
/// their images, their divergence is 0.
TEST_F(OneBatch, is_learned_by_digits_vae) {
  const nlohmann::json epochs = trained(
      "digits-vae", "[{RenderedDigits: {split: test, size: 16, difficulty: 0.2}}, {BatchData: 16}]", 10, {});
  EXPECT_GT(epochs.front().at("sigmoid_cross_entropy"), 0.4);
  EXPECT_LT(epochs.back().at("sigmoid_cross_entropy"), 0.22);
  EXPECT_GT(epochs.back().at("divergence"), 0.01);
}

}  // namespace
}  // namespace tpack
