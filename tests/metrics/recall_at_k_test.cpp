// tests/golden/metrics.json has the values of sets.
#include <cmath>

#include <gmock/gmock-matchers.h>

#include "layers/metric_value.h"

namespace tpack {
namespace {

double recall_of(const std::string& more, const std::vector<double>& places,
                 const std::vector<int32_t>& labels) {
  const auto samples = static_cast<int64_t>(labels.size());
  const int64_t size = static_cast<int64_t>(places.size()) / samples;
  return MetricOfSamples{
      "RecallAtK: {embeddings: x, labels: y" + more + "}",
      {"x", "y"},
      {Tensor::of<double>({samples, size}, places), Tensor::of<int32_t>({samples}, labels)}}
      .value();
}

TEST(RecallAtK, looks_at_the_k_nearest_others) {
  const std::vector<double> places = {0, 1, 3, 10};
  const std::vector<int32_t> labels = {0, 1, 0, 1};
  EXPECT_EQ(recall_of(", distance: euclidean", places, labels), 0);
  EXPECT_EQ(recall_of(", distance: euclidean, k: 2", places, labels), 0.75);
  EXPECT_EQ(recall_of(", distance: euclidean, k: 3", places, labels), 1);
}

TEST(RecallAtK, by_cosine_does_not_depend_on_lengths) {
  const std::vector<double> places = {1, 0, 100, 1, 0, 3, 1, 200};
  EXPECT_EQ(recall_of("", places, {0, 0, 1, 1}), 1);
  EXPECT_EQ(recall_of(", distance: euclidean", places, {0, 0, 1, 1}), 0.5);
}

/// A network that has collapsed.
TEST(RecallAtK, is_0_if_all_embeddings_are_the_same) {
  EXPECT_EQ(recall_of(", k: 2", {0.1, 0.7, 0.1, 0.7, 0.1, 0.7, 0.1, 0.7}, {0, 0, 1, 1}), 0);
  EXPECT_EQ(recall_of("", {0, 0, 0, 0}, {0, 0, 1, 1}), 0) << "and of length 0";
}

TEST(RecallAtK, leaves_out_samples_that_are_alone_in_their_class) {
  EXPECT_EQ(recall_of(", distance: euclidean", {0, 1, 3, 10, 11}, {0, 0, 1, 2, 2}), 1);
}

TEST(RecallAtK, has_no_value_without_enough_samples) {
  EXPECT_TRUE(std::isnan(recall_of(", k: 4", {0, 1, 3, 10}, {0, 0, 1, 1}))) << "any would be a hit";
  EXPECT_EQ(recall_of(", k: 3", {0, 1, 3, 10}, {0, 0, 1, 1}), 1);
  EXPECT_TRUE(std::isnan(recall_of("", {0, 1, 3}, {0, 1, 2}))) << "no class has two";
  EXPECT_TRUE(std::isnan(recall_of("", {0, NAN, 3}, {0, 0, 0})));
}

TEST(RecallAtK, says_what_is_wrong) {
  const auto complaint_of_recall = [](const Tensor& x, const Tensor& y) {
    return complaint_of<Metric>("RecallAtK: {embeddings: x, labels: y}", {"x", "y"}, {x, y});
  };
  EXPECT_THAT(
      complaint_of_recall(Tensor::zeros({DType::kFloat64, {2, 3, 4, 4}}), Tensor::of<int32_t>({2}, {0, 1})),
      testing::HasSubstr("metric RecallAtK: embeddings are vectors [N, size]; 'x' is"));
  EXPECT_THAT(complaint_of_recall(Tensor::zeros({DType::kFloat64, {2, 3}}), Tensor::of<double>({2}, {0, 1})),
              testing::HasSubstr("labels must be int32 [2], a class number for each sample"));
}

}  // namespace
}  // namespace tpack
