// Runs `tpack infer` on flows, with several models and on mirror images.
#include "infer/sample_predictor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "dataflow/test_databases.h"
#include "draw/png.h"
#include "infer/infer_runs.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing_cli::Outcome;

class SamplePredictorTest : public InferRuns {
 protected:
  void train_tags() {
    write_content(folder_ / "train.csv", "u,v,red,round\n1,2,0,1\n3,4,1,1\n5,6,0,0\n7,8,1,0\n");
    train("{CSV: {file: train.csv, columns: {x: [u, v]}, labels: {tags: [red, round]}}}",
          "model:\n  inputs: {x: {shape: [2]}, tags: {shape: [2]}}\n"
          "  layers: [FullyConnected: {name: fc, input: x, units: 2}]\n"
          "  cost: [SigmoidCrossEntropy: {logits: fc, labels: tags}]\n"
          "predict: {data: train, outputs: {p: {Sigmoid: fc}, raw: fc}}\n");
  }
};

/// The samples of a flow of the config, in place of files.
TEST_F(SamplePredictorTest, reads_the_samples_of_a_flow) {
  train_tags();
  const Outcome of_flow = infer({"--data", "train"});
  ASSERT_EQ(of_flow.code, 0) << of_flow.err;
  const Outcome of_file = infer({folder_ / "train.csv"});
  EXPECT_EQ(of_flow.out, of_file.out) << "in the order of the data, though training shuffles them";
  const auto lines_of = [](const std::string& text) {
    const std::vector<std::string> lines = split(text, '\n');
    return std::multiset<std::string>(lines.begin(), lines.end());
  };
  EXPECT_EQ(std::count(of_flow.out.begin(), of_flow.out.end(), '\n'), 4);
  const Outcome columns = infer({"--data", "train", "--format", "csv", "--columns", "u,red"});
  EXPECT_EQ(lines_of(columns.out).count("u,red"), 1U) << columns.out;
  EXPECT_EQ(infer({"--data", "test"}).code, 2);
  EXPECT_THAT(infer({"--data", "train", folder_ / "train.csv"}).err, testing::HasSubstr("keep one"));
}

/// Arrays have no lines: the number of a sample is that in the file, also of a part of it.
TEST_F(SamplePredictorTest, says_which_sample_of_an_array_each_answer_is_of) {
  std::vector<uint8_t> bytes(20 * sizeof(float));
  for (size_t i = 0; i < 20; ++i) {
    const auto number = static_cast<float>(i);
    std::memcpy(&bytes[i * sizeof(float)], &number, sizeof(float));
  }
  const std::vector<uint8_t> numbers = npy_file("<f4", "(20, 1)", bytes);
  write_content(folder_ / "x.npy", {numbers.begin(), numbers.end()});
  train(
      "{SplitData: {source: {Npz: x.npy}, part: train, shares: {validation: 0.5}}}, "
      "{LocallyShuffleData: 8}",
      "model:\n  layers: [FullyConnected: {name: fc, input: x, units: 1}]\n"
      "  cost: [MeanSquaredError: {predictions: fc, targets: x}]\n"
      "predict: {data: train, outputs: [x]}\n");
  for (const std::string flow : {"train", "rest"}) {
    const Outcome outcome = infer({"--data", flow, "--set",
                                   "data.rest=[{SplitData: {source: {Npz: " + (folder_ / "x.npy") +
                                       "}, part: validation, shares: {validation: 0.5}}}, "
                                       "{BatchData: 3}]"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    double last = -1;
    int answers = 0;
    for (const std::string& line : split(outcome.out, '\n')) {
      if (line.empty()) continue;
      const json answer = json::parse(line);
      const double x = answer["outputs"]["x"][0];
      EXPECT_EQ(answer["file"], (folder_ / "x.npy") + "[" + std::to_string(static_cast<int>(x)) + "]");
      EXPECT_GT(x, last) << "in the order of the file";
      last = x;
      ++answers;
    }
    EXPECT_EQ(answers, 10) << flow;
  }
}

/// Of a model with itself, and with one whose outputs are known.
TEST_F(SamplePredictorTest, writes_the_means_of_several_models) {
  train_tags();
  const std::string own = folder_ / "run/checkpoints/model-2.h5";
  const auto raw_of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {std::string("--data"), std::string("train")});
    const Outcome outcome = infer(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<double> values;
    for (const std::string& line : split(outcome.out, '\n')) {
      if (line.empty()) continue;
      const json answer = json::parse(line);
      for (const json& value : answer["outputs"]["raw"]) values.push_back(value);
    }
    return values;
  };
  const std::vector<double> of_first = raw_of({});
  ASSERT_EQ(of_first.size(), 8U);
  EXPECT_EQ(raw_of({"--average", own}), of_first);
  const std::string other = folder_ / "other.h5";
  std::filesystem::copy(own, other);
  testing_cli::tpack({"train", folder_ / "a.yaml", "--log-dir", folder_ / "run2", "--set", "seed=9"});
  std::filesystem::rename(folder_ / "run", folder_ / "run1");
  std::filesystem::rename(folder_ / "run2", folder_ / "run");
  const std::vector<double> of_second = raw_of({});
  const std::vector<double> mean = raw_of({"--average", other});
  for (size_t i = 0; i < mean.size(); ++i)
    EXPECT_NEAR(mean[i], (of_first[i] + of_second[i]) / 2, 1e-5 * std::abs(mean[i]) + 1e-6);
  EXPECT_NE(of_first, of_second);
}

TEST_F(SamplePredictorTest, takes_the_mean_of_an_image_and_its_mirror_image) {
  Tensor pixels = Tensor::zeros({DType::kUInt8, {4, 6, 1}});
  for (int64_t at = 0; at < 24; ++at) pixels.data<uint8_t>()[at] = static_cast<uint8_t>(at * 37 % 251);
  Tensor mirrored = pixels.clone();
  for (int64_t y = 0; y < 4; ++y)
    for (int64_t x = 0; x < 6; ++x)
      mirrored.data<uint8_t>()[y * 6 + x] = pixels.data<uint8_t>()[y * 6 + 5 - x];
  for (const auto& [name, image] : {std::pair("a/0.png", &pixels), std::pair("b/1.png", &mirrored)}) {
    const std::string path = folder_ / (std::string("images/") + name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_content(path, encode_png(*image).at(0).png);
  }
  train("{ImageFolder: {dir: images, color: gray}}, {AugmentImageComponent: [{Resize: [4, 6]}]}",
        "model:\n  inputs: {image: {shape: [4, 6, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: "
        "int32}}\n"
        "  layers: [Normalize: {scale: 0.01}, FullyConnected: {name: fc, units: 2}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
        "predict: {data: train, outputs: {raw: fc}}\n");
  const auto raw_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {folder_ / "images"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = infer(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<double> values;
    for (const std::string& line : split(outcome.out, '\n'))
      if (!line.empty()) values.push_back(json::parse(line)["outputs"]["raw"][0]);
    return values;
  };
  const std::vector<double> plain = raw_of({});
  const std::vector<double> flipped = raw_of({"--augment", "flip"});
  ASSERT_EQ(plain.size(), 2U);
  ASSERT_EQ(flipped.size(), 2U);
  EXPECT_NE(plain[0], plain[1]);
  EXPECT_NEAR(flipped[0], (plain[0] + plain[1]) / 2, 1e-5);
  EXPECT_NEAR(flipped[1], flipped[0], 1e-5);
}

TEST_F(SamplePredictorTest, rejects_means_of_what_has_none) {
  train_tags();
  EXPECT_THAT(infer({"--data", "train", "--augment", "flip"}).err,
              testing::HasSubstr("no input of this model is an image"));
  EXPECT_THAT(infer({"--data", "train", "--average", folder_ / "run/checkpoints/model-2.h5", "--set",
                     "predict.outputs={c: {ArgMax: fc}}"})
                  .err,
              testing::HasSubstr("which has no mean"));
}

}  // namespace
}  // namespace tpack
