// Losses of embeddings: TripletLoss and ContrastiveLoss.
#include "layers/embeddings.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "graph/passes/gradient.h"
#include "layers/cost_function.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

/// On a line, so that distances are differences.
double triplet_cost(const std::string& more, const std::vector<double>& places,
                    const std::vector<int32_t>& labels) {
  const auto samples = static_cast<int64_t>(places.size());
  return testkit::evaluate(
             function_of_outputs<Cost>(
                 "TripletLoss: {embeddings: x, labels: y, normalize: false, margin: 2, " + more + "}",
                 {"x", "y"}),
             {Tensor::of<double>({samples, 1}, places), Tensor::of<int32_t>({samples}, labels)},
             DType::kFloat64)[0]
      .at(0);
}

/// Of the samples 0 and 3 of class 0, and 1 and 8 of class 1.
TEST(TripletLoss, chooses_triplets_of_the_batch) {
  const std::vector<double> places = {0, 3, 1, 8};
  const std::vector<int32_t> labels = {0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(triplet_cost("mining: hard", places, labels), (4 + 3 + 8 + 4) / 4.0);
  // The nearest farther than the own one: of 0 the 8, of 3 the 8, of 1 none (the farthest is 3), of 8 the 0.
  EXPECT_DOUBLE_EQ(triplet_cost("mining: semi_hard", places, labels), (0 + 0 + 7 + 1) / 4.0);
  // Those that cost something: 4, 3, 8, 7, 4 and 1.
  EXPECT_DOUBLE_EQ(triplet_cost("mining: all", places, labels), (4 + 3 + 8 + 7 + 4 + 1) / 6.0);
}

TEST(TripletLoss, costs_nothing_where_classes_are_far_apart) {
  for (const char* mining : {"hard", "semi_hard", "all"}) {
    EXPECT_EQ(triplet_cost(std::string("mining: ") + mining, {0, 1, 9, 10}, {0, 0, 1, 1}), 0) << mining;
  }
}

/// The sample of class 2 is no anchor, and is far from the others.
TEST(TripletLoss, leaves_out_samples_that_are_alone) {
  for (const char* mining : {"hard", "semi_hard", "all"}) {
    const std::string more = std::string("mining: ") + mining;
    EXPECT_DOUBLE_EQ(triplet_cost(more, {0, 3, 1, 8, 100}, {0, 0, 1, 1, 2}),
                     triplet_cost(more, {0, 3, 1, 8}, {0, 0, 1, 1}) +
                         // one more farther one, of the pair that had none
                         (std::string(mining) == "semi_hard" ? -7 / 4.0 : 0))
        << mining;
  }
}

/// A training ends there: it would learn nothing.
TEST(TripletLoss, is_nan_for_a_batch_without_a_triplet) {
  for (const char* mining : {"hard", "semi_hard", "all"}) {
    const std::string more = std::string("mining: ") + mining;
    EXPECT_TRUE(std::isnan(triplet_cost(more, {0, 3, 1}, {0, 1, 2}))) << "no class has two samples";
    EXPECT_TRUE(std::isnan(triplet_cost(more, {0, 3, 1}, {1, 1, 1}))) << "there is one class";
  }
  EXPECT_THAT(
      complaint_of<Cost>("TripletLoss: {embeddings: x, labels: y}", {"x", "y"},
                         {Tensor::of<double>({2, 2}, {1, 2, 3, 4}), Tensor::of<int32_t>({2}, {0, 0})}),
      testing::HasSubstr("a batch of 2 does not have two samples of one class and one of another; raise "
                         "batch_size"));
}

/// A value of validation is that of the triplets that there are.
TEST(TripletLoss, of_inference_is_the_mean_over_batches_with_triplets) {
  const std::shared_ptr<const Metric> metric = Registry<Metric>::make_item(
      parse_yaml("TripletLoss: {embeddings: x, labels: y, normalize: false, margin: 2}", "cost.yaml"));
  VariableTable variables;
  Graph graph;
  Builder b(graph, variables, {Phase::kInference, DType::kFloat64});
  const std::vector<Symbol> in = {b.input("x", {DType::kFloat64, {1, 1}}),
                                  b.input("y", {DType::kInt32, {1}})};
  EXPECT_NO_THROW(figure_of(*metric, b, {"x", "y"}, in)) << "one sample";
}

/// Samples that are the same have no direction to go to.
TEST(TripletLoss, has_no_gradient_between_samples_that_are_the_same) {
  const auto cost = function_of_outputs<Cost>("TripletLoss: {embeddings: x, labels: y}", {"x", "y"});
  const auto found = testkit::evaluate_on_cpu(
      [&](Builder& b, std::span<const Symbol> in) {
        const Symbol y = cost(b, in)[0];
        return std::vector{y, gradients(b, y, in.first(1))[0]};
      },
      {Tensor::of<float>({4, 2}, {3, 4, 3, 4, 3, 4, 3, 4}), Tensor::of<int32_t>({4}, {0, 0, 1, 1})}, {});
  EXPECT_FLOAT_EQ(static_cast<float>(found[0].at(0)), 0.3F);
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(found[1].at(i), 0);
}

/// Single precision, relative to the largest gradient, of samples that are near to each other, too.
TEST(AccuracyOfLosses, of_embeddings) {
  for (const char* item : {"TripletLoss: {embeddings: x, labels: y}",
                           "TripletLoss: {embeddings: x, labels: y, normalize: false, margin: 1}",
                           "TripletLoss: {embeddings: x, labels: y, mining: hard}",
                           "TripletLoss: {embeddings: x, labels: y, mining: all}",
                           "ContrastiveLoss: {embeddings: [x, z], same: y}",
                           "ContrastiveLoss: {embeddings: [x, z], same: y, normalize: false}"}) {
    const auto cost = function_of_outputs<Cost>(item, {"x", "y", "z"});
    const auto with_gradient = [&](Builder& b, std::span<const Symbol> in) {
      const Symbol y = cost(b, in)[0];
      return std::vector{y, gradients(b, y, in.first(1))[0]};
    };
    Rng rng(4);
    for (int round = 0; round < 50; ++round) {
      const float spread = std::pow(10.0F, rng.uniform(-2, 0));
      Tensor x = Tensor::zeros({DType::kFloat32, {8, 4}});
      Tensor z = x.clone();
      for (int64_t i = 0; i < 32; ++i) {
        x.data<float>()[i] = 1 + spread * rng.normal();
        z.data<float>()[i] = x.data<float>()[i] + spread * rng.normal();
      }
      const std::vector<Tensor> values = {x, Tensor::of<int32_t>({8}, {0, 1, 0, 1, 1, 1, 0, 0}), z};
      const auto found = testkit::evaluate_on_cpu(with_gradient, values, {});
      const auto truth = testkit::evaluate(with_gradient, values, DType::kFloat64);
      EXPECT_NEAR(found[0].at(0), truth[0].at(0), 1e-6) << item;
      for (int64_t i = 0; i < 32; ++i)
        EXPECT_NEAR(found[1].at(i), truth[1].at(i), 1e-6 / static_cast<double>(spread)) << item << spread;
    }
  }
}

TEST(ContrastiveLoss, is_the_formula_of_hadsell) {
  const auto cost = [](const std::string& more, const std::vector<double>& same) {
    return testkit::evaluate(
               function_of_outputs<Cost>("ContrastiveLoss: {embeddings: [x, z], same: y, " + more + "}",
                                         {"x", "z", "y"}),
               {Tensor::of<double>({2, 2}, {3, 0, 1, 1}), Tensor::of<double>({2, 2}, {0, 4, 1, 0.5}),
                Tensor::of<double>({2}, same)},
               DType::kFloat64)[0]
        .at(0);
  };
  EXPECT_DOUBLE_EQ(cost("normalize: false, margin: 6", {1, 1}), (25 + 0.25) / 4);
  EXPECT_DOUBLE_EQ(cost("normalize: false, margin: 6", {0, 0}), (1 + 5.5 * 5.5) / 4);
  EXPECT_DOUBLE_EQ(cost("normalize: false, margin: 0.25", {0, 0}), 0);
  EXPECT_DOUBLE_EQ(cost("normalize: true", {1, 0.4}),
                   (2 + std::pow(1 - std::sqrt(2 - 2 * 1.5 / std::sqrt(2.5)), 2)) / 4);
}

TEST(ContrastiveLoss, gives_a_metric_with_the_value_of_the_cost) {
  const std::string item = "ContrastiveLoss: {embeddings: [x, z], same: y}";
  const std::vector<Tensor> values = {Tensor::of<double>({2, 2}, {3, 0, 1, 1}),
                                      Tensor::of<double>({2, 2}, {0, 4, 1, 0.5}),
                                      Tensor::of<double>({2}, {1, 0})};
  const auto figure =
      testkit::evaluate(function_of_outputs<Metric>(item, {"x", "z", "y"}), values, DType::kFloat64);
  EXPECT_DOUBLE_EQ(
      figure[0].at(0) / figure[1].at(0),
      testkit::evaluate(function_of_outputs<Cost>(item, {"x", "z", "y"}), values, DType::kFloat64)[0].at(0));
}

TEST(ContrastiveLoss, says_what_is_wrong) {
  using testing::HasSubstr;
  const std::vector<Tensor> values = {Tensor::zeros({DType::kFloat64, {2, 3}}),
                                      Tensor::zeros({DType::kFloat64, {2, 4}}),
                                      Tensor::zeros({DType::kFloat64, {2, 3, 5, 5}})};
  const auto complaint = [&](const std::string& item) {
    return complaint_of<Cost>(item, {"x", "z", "image"}, values);
  };
  EXPECT_THAT(complaint("ContrastiveLoss: {embeddings: [x], same: x}"),
              HasSubstr("'embeddings' of ContrastiveLoss has 1 outputs; name the two of a pair"));
  EXPECT_THAT(complaint("ContrastiveLoss: {embeddings: [x, z], same: x}"),
              HasSubstr("call one network for both (layer Call)"));
  EXPECT_THAT(complaint("TripletLoss: {embeddings: image, labels: x}"),
              HasSubstr("end the network with GlobalAvgPooling"));
}

}  // namespace
}  // namespace tpack
