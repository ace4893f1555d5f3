#include <set>

#include <gmock/gmock-matchers.h>

#include "callbacks/callback_scenes.h"
#include "dataflow/datapoint.h"
#include "draw/image_grid.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Pictures of 2 x 3 pixels: of the input, of random numbers, and of what is trained.
constexpr const char* kDrawingModel = R"(
inputs:
  x: {shape: [6]}
  label: {shape: [], dtype: int32}
layers:
  - Reshape: {name: same, shape: [1, 2, 3]}
  - RandomNormal: {name: noise, shape: [1, 2, 3]}
  - Add: {name: noisy, input: [same, noise]}
  - Dropout: {rate: 0.3}
  - FullyConnected: {units: 6, activation: Tanh}
  - Reshape: {name: drawn, shape: [1, 2, 3]}
  - FullyConnected: {name: logits, units: 3}
  - Reshape: {name: column, input: drawn, shape: [1, 6, 1]}
cost:
  - SoftmaxCrossEntropy: {logits: logits, labels: label}
)";

DataFlow drawing_flow(int64_t samples,
                      const std::string& batches = "{BatchData: {batch_size: 4, remainder: true}}") {
  return make_flow(
      parse_yaml("[{FakeData: {shapes: [[6], []], dtype: [float32, int32], names: [x, label], "
                 "domain: [0, 3], size: " +
                     std::to_string(samples) + "}}, " + batches + "]",
                 "flow.yaml"));
}

/// Keeps the pictures that a run gives.
class PictureMonitor final : public Monitor {
 public:
  struct Picture {
    std::string name;
    Tensor image;
    StepStamp at;
  };
  explicit PictureMonitor(std::vector<Picture>& pictures) : pictures_(pictures) {}
  void put_scalar(const std::string& /*name*/, double /*value*/, const StepStamp& /*at*/) override {}
  void put_image(const std::string& name, const Tensor& image, const StepStamp& at) override {
    pictures_.push_back({name, image.clone(), at});
  }
  void end_epoch(const StepStamp& /*at*/) override {}

 private:
  std::vector<Picture>& pictures_;
};

class SampleGridTest : public testing::Test {
 protected:
  /// Two epochs of three steps with this callback; without one if it is empty.
  void train(const std::string& params) {
    pictures_.clear();
    training_ = std::make_unique<SmallTraining>(drawing_flow(22), "Simple", "Adam: {learning_rate: 0.05}",
                                                EngineSettings::Backend::kReference, make_self_comm(),
                                                model_of(kDrawingModel));
    TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training_->trainer(), folder_.str());
    run.watch(std::make_unique<PictureMonitor>(pictures_));
    run.options.seed = 9;
    run.options.flows = {{"train", drawing_flow(22)}, {"few", few_}};
    if (!params.empty()) run.add("SampleGrid", parse_yaml(params, "c.yaml"));
    run.go();
  }
  std::string error_of(const std::string& params) {
    return error_from([&] { train(params); });
  }

  TemporaryFolder folder_;
  DataFlow few_ = drawing_flow(5);
  std::unique_ptr<SmallTraining> training_;
  std::vector<PictureMonitor::Picture> pictures_;
};

/// The first samples of the first pass as images, if 3 is white.
std::vector<Tensor> first_samples(const DataFlow& flow, size_t count) {
  std::vector<Tensor> images;
  const auto cursor = flow.open({.seed = 9});
  for (Datapoint d; images.size() < count && cursor->next(d);) {
    const Tensor x = d.to_tensor(0);
    for (int64_t row = 0; row < x.shape()[0] && images.size() < count; ++row) {
      Tensor& image = images.emplace_back(DType::kFloat32, Shape{2, 3, 1});
      for (int64_t i = 0; i < 6; ++i) image.data<float>()[i] = static_cast<float>(x.at(6 * row + i) * 85);
    }
  }
  return images;
}

TEST_F(SampleGridTest, draws_the_first_samples_of_a_flow) {
  train("{outputs: [same], rows: 3, columns: 2, range: [0, 3]}");
  ASSERT_EQ(pictures_.size(), 2U);
  EXPECT_EQ(pictures_[0].name, "samples/same");
  EXPECT_EQ(pictures_[0].at, (StepStamp{1, 3}));
  EXPECT_EQ(pictures_[1].at, (StepStamp{2, 6}));
  const std::vector<Tensor> samples = first_samples(drawing_flow(22), 6);  // of two batches
  EXPECT_LT(max_difference(pictures_[0].image, image_grid(samples, 2)), 1e-3);
}

TEST_F(SampleGridTest, draws_the_same_numbers_each_time_with_new_weights) {
  train("{outputs: [noise, drawn], rows: 1, columns: 4, range: [-3, 3]}");
  const auto cells = [this](size_t picture, int64_t first) {  // every second cell
    std::vector<double> values;
    const Tensor& image = pictures_.at(picture).image;
    for (int64_t y = 1; y < 3; ++y) {
      for (int64_t x = 0; x < image.shape()[1] - 1; ++x) {
        if (x / 4 % 2 == first) values.push_back(image.at(y * image.shape()[1] + x));
      }
    }
    return values;
  };
  EXPECT_EQ(pictures_[0].image.shape(), (Shape{4, 33, 1}));
  EXPECT_EQ(cells(0, 0), cells(1, 0)) << "noise";
  EXPECT_NE(cells(0, 1), cells(1, 1)) << "drawn";
  const std::vector<double> noise = cells(0, 0);
  EXPECT_GT(std::set<double>(noise.begin(), noise.end()).size(), 20U);
}

TEST_F(SampleGridTest, writes_a_picture_for_each_epoch) {
  train("{outputs: [drawn]}");
  EXPECT_THAT(names_in(folder_ / "samples"), ElementsAre("drawn-00000003.png", "drawn-00000006.png"));
  EXPECT_THAT(content_of(folder_ / "samples/drawn-00000003.png"), testing::StartsWith("\x89PNG"));
}

TEST_F(SampleGridTest, draws_what_there_is_of_a_short_flow) {
  const CapturedLog log;
  train("{outputs: [same], data: few, rows: 2, columns: 3, range: [0, 3]}");
  EXPECT_LT(max_difference(pictures_[0].image, image_grid(first_samples(few_, 5), 3)), 1e-3);
  EXPECT_THAT(log.text(), HasSubstr("flow 'few' has 5 samples in a pass"));
}

TEST_F(SampleGridTest, costs_no_run_if_the_picture_cannot_be_written) {
  const CapturedLog log;
  write_content(folder_ / "samples", "a file that is in the way");
  train("{outputs: [drawn]}");
  EXPECT_THAT(log.text(), HasSubstr("samples/drawn-00000006.png"));
  EXPECT_EQ(pictures_.size(), 2U);
}

TEST_F(SampleGridTest, does_not_change_what_is_trained) {
  train("");
  const auto without = variables_of(training_->trainer());
  train("{outputs: [drawn]}");
  expect_bit_equal(without, variables_of(training_->trainer()));
}

TEST_F(SampleGridTest, says_what_is_wrong_before_training) {
  struct Case {
    std::string params;
    std::string place;
    std::string what;
  };
  const auto expect_errors = [this](const std::vector<Case>& cases) {
    for (const Case& c : cases) EXPECT_TRUE(says(error_of(c.params), {c.place, c.what}));
  };
  expect_errors({{"{outputs: [drwan]}", "c.yaml:1:12:", "unknown layer or input 'drwan'"},
                 {"{outputs: [drawn, logits]}", "c.yaml:1:19:", "'logits' is float32 [3]"},
                 {"{outputs: [drawn, column]}", "c.yaml:1:19:", "for each sample, but 'drawn'"},
                 {"{outputs: []}", "", "'outputs' is empty"},
                 {"{outputs: [drawn], range: [1, 1]}", "'range'", "must differ"},
                 {"{outputs: [drawn], data: fw}", "'fw'", "did you mean 'few'?"},
                 {"{outputs: [drawn], ranks: all}", "", "'ranks' must be chief"}});
  few_ = make_flow(parse_yaml("[{ExpReplay: {environment: Catch, values: q}}, {BatchData: {batch_size: 4}}]",
                              "flow.yaml"));
  expect_errors({{"{outputs: [drawn], data: few}", "'few'", "plays with the model"}});
  few_ = drawing_flow(5, "");
  expect_errors({{"{outputs: [drawn], data: few}", "'few'", "produces single samples"}});
}

/// The pictures of a run, as text.
std::string pictures_of(const std::string& item) {
  const CapturedLog log;
  const TemporaryFolder folder;
  SmallTraining training(drawing_flow(22), "Simple", "SGD", EngineSettings::Backend::kReference,
                         make_self_comm(), model_of(kDrawingModel));
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, training.trainer(), folder.str());
  run.options.flows = {{"train", drawing_flow(22)}, {"few", drawing_flow(5)}};
  run.add("probed", callback_of(item));
  std::string text = error_of_run(run);
  if (!std::filesystem::exists(folder / "samples")) return text;
  for (const std::string& name : names_in(folder / "samples"))
    text += name + content_of(folder / ("samples/" + name));
  return text;
}
const live::Fields kSampleGrid("callback", "SampleGrid",
                               {.base = "{outputs: [same]}",
                                .values = {{"outputs", "[noise]"}, {"data", "few"}, {"range", "[0, 3]"}},
                                .build = pictures_of});

}  // namespace
}  // namespace tpack
