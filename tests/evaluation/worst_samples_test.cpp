// Runs `tpack eval` with its reports.
#include "evaluation/worst_samples.h"

#include <set>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "infer/infer_runs.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing_cli::Outcome;

class WorstSamplesTest : public InferRuns {
 protected:
  /// A model that says class "even" for x above 0 after a few steps at a rate of 0: its weight is as it
  /// starts.
  void SetUp() override {
    std::string rows = "x,y\n";
    for (int i = 0; i < 9; ++i) rows += std::to_string(i - 4) + (i % 2 == 0 ? ",even\n" : ",odd\n");
    write_content(folder_ / "train.csv", rows);
    train("{CSV: {file: train.csv, columns: {x: x}, labels: {y: y}}}",
          "model:\n  layers: [{Reshape: {name: wide, input: x, shape: [1]}}, {FullyConnected: {name: logits, "
          "units: 2}}]\n"
          "  cost: [SoftmaxCrossEntropy: {logits: logits, labels: y}]\n"
          "predict: {data: train, outputs: [logits]}\n");
  }
  Outcome eval(std::vector<std::string> words) const {
    words.insert(words.begin(), {"eval", folder_ / "run/checkpoints/model-2.h5", "--set",
                                 "data.validation=[{CSV: {file: " + (folder_ / "train.csv") +
                                     ", columns: {x: x}, labels: {y: y}}}, {BatchData: {batch_size: 4, "
                                     "remainder: true}}]"});
    return testing_cli::tpack(words);
  }
};

TEST_F(WorstSamplesTest, are_those_with_the_highest_cost_and_are_named_by_file_and_line) {
  const Outcome outcome = eval({"--worst", "9", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  const json& worst = report["worst"];
  ASSERT_EQ(worst.size(), 9U);
  double sum = 0;
  std::set<std::string> names;
  for (size_t i = 0; i < worst.size(); ++i) {
    EXPECT_LE(worst[i]["loss"], worst[i == 0 ? 0 : i - 1]["loss"]);
    sum += worst[i]["loss"].get<double>();
    names.insert(worst[i]["sample"].get<std::string>());
    const std::string name = worst[i]["sample"];
    const int line = std::stoi(name.substr(name.rfind(':') + 1));
    EXPECT_EQ(worst[i]["actual"], line % 2 == 0 ? "even" : "odd") << name;
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_NEAR(sum / 9, report["cost"].get<double>(), 1e-5) << "all samples: their mean is the cost";
  const json fewer = json::parse(eval({"--worst", "2", "--json"}).out)["worst"];
  ASSERT_EQ(fewer.size(), 2U);
  EXPECT_EQ(fewer[0], worst[0]);
  EXPECT_EQ(fewer[1], worst[1]);
}

TEST_F(WorstSamplesTest, stand_below_the_tables_of_classes) {
  const Outcome outcome = eval({"--worst", "1", "--svg", folder_ / "confusion.svg"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("precision"));
  EXPECT_THAT(outcome.out, HasSubstr("actual \\ predicted"));
  EXPECT_THAT(outcome.out, HasSubstr("softmax_cross_entropy"));
  EXPECT_THAT(outcome.out, HasSubstr("train.csv:"));
  EXPECT_THAT(content_of(folder_ / "confusion.svg"), HasSubstr(">even</text>"));
}

TEST_F(WorstSamplesTest, images_need_images_and_a_number_of_samples) {
  EXPECT_THAT(eval({"--images", folder_ / "worst.png"}).err,
              HasSubstr("set the number of samples with --worst N"));
  const Outcome outcome = eval({"--worst", "1", "--images", folder_ / "worst.png"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the samples have no image"));
}

/// Where the target is an image, the input, the target and the output are side by side.
TEST_F(WorstSamplesTest, that_are_images_are_drawn_next_to_their_targets) {
  std::filesystem::remove_all(folder_ / "run");
  const std::string flow =
      "{RenderedShapes: {size: 4, resolution: 96, noise: 0}}, {Compute: {target: image}}";
  train(flow,
        "model:\n  inputs: {image: {shape: [96, 96, 3], dtype: uint8, layout: HWC}, target: {shape: [96, 96, "
        "3], "
        "dtype: uint8, layout: HWC}}\n"
        "  layers: [Normalize: {name: clean, input: target}, Normalize: {name: same, input: image}, Conv2D: "
        "{name: x, filters: 3, kernel: 1}, Elementwise: {name: out, expression: x * 0 + 0.5}]\n"
        "  cost: [MeanSquaredError: {predictions: out, targets: clean}]\n"
        "predict: {data: train, outputs: [out]}\n");
  const Outcome outcome =
      testing_cli::tpack({"eval", folder_ / "run/checkpoints/model-2.h5", "--set",
                          "data.validation=[" + flow + ", {BatchData: {batch_size: 2, remainder: true}}]",
                          "--worst", "2", "--images", folder_ / "worst.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("predicted"))) << "pictures have no text";
  const Tensor sheet = pixels_of(folder_ / "worst.png");
  ASSERT_EQ(sheet.shape()[1], 6 * 100 + 4) << "three tiles for each of two samples";
  const auto pixel = [&](int64_t tile, int64_t x, int64_t y) {
    return sheet.at(((4 + y) * sheet.shape()[1] + 4 + tile * 100 + x) * 3);
  };
  std::set<double> of_target;
  for (int64_t at = 0; at < 96; ++at) {
    EXPECT_NEAR(pixel(1, at, at), pixel(0, at, at), 0.5) << "the target is the input";
    EXPECT_NEAR(pixel(2, at, at), 127.5, 0.5) << "the output";
    of_target.insert(pixel(1, at, at));
  }
  EXPECT_GT(of_target.size(), 1U) << "shapes and their background have colors";
}

TEST_F(WorstSamplesTest, two_models_are_compared_over_the_same_samples) {
  const std::string model = folder_ / "run/checkpoints/model-2.h5";
  const Outcome outcome = eval({model});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("softmax_cross_entropy"));
  EXPECT_THAT(outcome.out, HasSubstr("noise"));
  EXPECT_EQ(json::parse(eval({model, "--json"}).out)["compared"]["accuracy"]["difference"], 0);
  EXPECT_THAT(eval({model, "--worst", "2"}).err, HasSubstr("apply only to one model"));
}

}  // namespace
}  // namespace tpack
