// Costs and metrics of classes, of the pixels of images: those of as many samples.
#include <gmock/gmock-matchers.h>

#include "layers/metric_value.h"
#include "testkit/gradient_check.h"

namespace tpack {
namespace {

constexpr int64_t kImages = 2;
constexpr int64_t kClasses = 3;
constexpr int64_t kHeight = 2;
constexpr int64_t kWidth = 4;
constexpr int64_t kPixels = kHeight * kWidth;

/// Scores [N, C, H, W] and the same in rows [N * H * W, C].
Tensor images_of_scores() {
  return testkit::random_tensor({kImages, kClasses, kHeight, kWidth}, 5, DType::kFloat64, -2, 2);
}
Tensor rows_of(const Tensor& images) {
  std::vector<double> rows;
  for (int64_t n = 0; n < kImages; ++n) {
    for (int64_t p = 0; p < kPixels; ++p) {
      for (int64_t c = 0; c < kClasses; ++c) rows.push_back(images.at((n * kClasses + c) * kPixels + p));
    }
  }
  return Tensor::of<double>({kImages * kPixels, kClasses}, rows);
}
const std::vector<int32_t> kPixelLabels = {0, 1, 2, 2, 1, 0, 0, 2, 1, 1, 2, 0, 2, 1, 0, 1};

double value_of_metric(const std::string& yaml, const Tensor& scores, const Shape& labels) {
  const MetricOfSamples metric{yaml, {"logits", "mask"}, {scores, Tensor::of<int32_t>(labels, kPixelLabels)}};
  return metric.value({scores.shape()[0]});
}

TEST(Pixels, have_the_metrics_of_as_many_samples) {
  const Tensor images = images_of_scores();
  const Tensor rows = rows_of(images);
  for (const std::string metric :
       {"Accuracy", "ClassificationError", "InTopK", "F1", "IoU", "BalancedAccuracy", "CohenKappa",
        "MatthewsCorrelation", "SoftmaxCrossEntropy", "FocalLoss"}) {
    const std::string more = metric == "InTopK" ? ", k: 2" : "";
    const std::string yaml = metric + ": {logits: logits, labels: mask" + more + "}";
    const double of_rows = value_of_metric(yaml, rows, {kImages * kPixels});
    EXPECT_NEAR(value_of_metric(yaml, images, {kImages, kHeight, kWidth}), of_rows, 1e-12) << metric;
    EXPECT_NEAR(value_of_metric(yaml, images, {kImages, 1, kHeight, kWidth}), of_rows, 1e-12) << metric;
    EXPECT_TRUE(std::isfinite(of_rows) && of_rows != 0) << metric;
  }
}

TEST(Pixels, that_are_ignored_do_not_count) {
  const Tensor rows = rows_of(images_of_scores());
  std::vector<double> kept;
  std::vector<int32_t> labels;
  for (size_t i = 0; i < kPixelLabels.size(); ++i) {
    if (kPixelLabels[i] == 1) continue;
    labels.push_back(kPixelLabels[i]);
    for (int64_t c = 0; c < kClasses; ++c) kept.push_back(rows.at(static_cast<int64_t>(i) * kClasses + c));
  }
  const auto count = static_cast<int64_t>(labels.size());
  for (const std::string metric :
       {"Accuracy", "F1", "IoU", "BalancedAccuracy", "CohenKappa", "MatthewsCorrelation"}) {
    const MetricOfSamples of_kept{
        metric + ": {logits: logits, labels: mask}",
        {"logits", "mask"},
        {Tensor::of<double>({count, kClasses}, kept), Tensor::of<int32_t>({count}, labels)}};
    EXPECT_NEAR(value_of_metric(metric + ": {logits: logits, labels: mask, ignore_label: 1}",
                                images_of_scores(), {kImages, kHeight, kWidth}),
                of_kept.value({count}), 1e-12)
        << metric;
  }
}

TEST(Pixels, of_a_yes_or_no_have_an_iou) {
  const Tensor scores = Tensor::of<double>({1, 1, 2, 2}, {1, 1, -1, -1});
  const Tensor labels = Tensor::of<int32_t>({1, 2, 2}, {1, 0, 1, 0});
  const MetricOfSamples iou{
      "IoU: {logits: logits, labels: mask, average: binary}", {"logits", "mask"}, {scores, labels}};
  EXPECT_DOUBLE_EQ(iou.value({1}), 1.0 / 3);
  const MetricOfSamples without_ignored{
      "IoU: {logits: logits, labels: mask, average: binary, ignore_label: 255}",
      {"logits", "mask"},
      {scores, Tensor::of<int32_t>({1, 2, 2}, {1, 255, 1, 255})}};
  EXPECT_DOUBLE_EQ(without_ignored.value({1}), 1.0 / 2);
  for (const std::string metric : {"IoU", "F1"}) {
    const MetricOfSamples all_ignored{
        metric + ": {logits: logits, labels: mask, average: binary, ignore_label: 255}",
        {"logits", "mask"},
        {scores, Tensor::of<int32_t>({1, 2, 2}, {255, 255, 255, 255})}};
    EXPECT_TRUE(std::isnan(all_ignored.value({1}))) << metric << " has nothing to measure";
  }
}

TEST(Pixels, need_as_many_labels) {
  const Tensor labels = Tensor::of<int32_t>({2, 4, 4}, std::vector<int32_t>(32));
  EXPECT_THAT(
      complaint_of<Cost>("SoftmaxCrossEntropy: {logits: logits, labels: mask}", {"logits", "mask"},
                         {images_of_scores(), labels}),
      testing::HasSubstr("'mask' is int32 [2, 4, 4]; class numbers of pixels are [N, height, width]"));
}

/// Of one pixel: (1 - p) / (3 + p) and p / (2 + p) of its probability p, in single precision. (Its gradient
/// is that of a sigmoid, whose digits next to 1 are few.)
TEST(DiceLoss, is_exact_where_it_is_small) {
  for (double x = -60; x <= 60; x += 0.37) {
    const double p = 1 / (1 + std::exp(-x));
    const double rest = 1 / (1 + std::exp(x));
    for (const int32_t label : {0, 1}) {
      const double truth = label == 1 ? rest / (3 + p) : p / (2 + p);
      const auto found = testkit::evaluate_on_cpu(
          function_of_outputs<Cost>("DiceLoss: {logits: y, labels: mask}", {"y", "mask"}),
          {Tensor::of<float>({1, 1, 1, 1}, {static_cast<float>(x)}), Tensor::of<int32_t>({1, 1, 1}, {label})},
          {});
      const double at = static_cast<double>(static_cast<float>(x));
      EXPECT_NEAR(found[0].at(0), truth, 4e-6 * truth + 1e-6 * truth * std::abs(at - x) + 1e-30) << x;
    }
  }
}

TEST(DiceLoss, is_nan_for_a_label_that_is_no_class) {
  const auto loss = [](const std::string& more) {
    std::vector<int32_t> labels = kPixelLabels;
    labels[3] = 255;
    return testkit::evaluate(
               function_of_outputs<Cost>("DiceLoss: {logits: y, labels: mask" + more + "}", {"y", "mask"}),
               {images_of_scores(), Tensor::of<int32_t>({kImages, kHeight, kWidth}, labels)},
               DType::kFloat64)[0]
        .at(0);
  };
  EXPECT_TRUE(std::isnan(loss("")));
  EXPECT_TRUE(std::isfinite(loss(", ignore_label: 255")));
}

/// Each label of several is a yes or no of its own channel: the mean of both.
TEST(DiceLoss, of_channels_is_the_mean_of_theirs) {
  const Tensor x = testkit::random_tensor({1, 2, 3, 4}, 9, DType::kFloat64, -2, 2);
  std::vector<double> labels;
  for (int i = 0; i < 24; ++i) labels.push_back(i % 5 < 2 ? 1 : 0);
  const auto loss = [](const Tensor& scores, const Tensor& facts) {
    return testkit::evaluate(function_of_outputs<Cost>("DiceLoss: {logits: y, labels: mask}", {"y", "mask"}),
                             {scores, facts}, DType::kFloat64)[0]
        .at(0);
  };
  const auto half = [](const Tensor& all, int64_t channel) {
    std::vector<double> values;
    for (int64_t i = 0; i < 12; ++i) values.push_back(all.at(channel * 12 + i));
    return Tensor::of<double>({1, 1, 3, 4}, values);
  };
  const Tensor facts = Tensor::of<double>({1, 2, 3, 4}, labels);
  EXPECT_NEAR(loss(x, facts), (loss(half(x, 0), half(facts, 0)) + loss(half(x, 1), half(facts, 1))) / 2,
              1e-12);
}

}  // namespace
}  // namespace tpack
