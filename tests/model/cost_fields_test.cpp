#include <gmock/gmock-more-matchers.h>

#include "layers/cost_function.h"
#include "layers/layer_cases.h"
#include "layers/metric_value.h"
#include "model/cost.h"
#include "support/graph_text.h"
#include "support/live_fields.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

/// Outputs that are called as in the examples of all schemas. Scores are the sum of two variables.
struct ExampleOutputs {
  static const std::vector<std::string>& names() {
    static const std::vector<std::string> all = {
        "logits",    "label", "wide",   "price",   "true_price", "tags",           "real",         "fake",
        "log_count", "count", "grade",  "borders", "embedding",  "true_embedding", "teacher",      "restored",
        "clean",     "face",  "person", "left",    "right",      "match",          "pixel_scores", "mask"};
    return all;
  }
  static std::vector<Symbol> in(Builder& b) {
    const Symbol scores = b.add(b.variable("a/W", {4, 3}, nullptr), b.variable("b/W", {3}, nullptr));
    const Symbol wide = b.add(scores, scores);
    const Symbol sums = b.reduce_sum(scores, {1});
    const Symbol label = b.input("label", {DType::kInt32, {4}});
    const Symbol positive = b.exp(scores);
    const Symbol images = b.variable("c/W", {4, 1, 11, 12}, nullptr);
    const Symbol of_pixels = b.reshape(images, {4, 3, 4, 11});
    return {scores,
            label,
            wide,
            scores,
            positive,
            b.exp(wide),
            sums,
            b.exp(sums),
            scores,
            positive,
            label,
            scores,
            scores,
            positive,
            positive,
            images,
            b.sigmoid(images),
            scores,
            label,
            scores,
            positive,
            label,
            of_pixels,
            b.cast(b.reduce_sum(b.to_float(b.greater(of_pixels, 0.1)), {1}), DType::kInt32)};
  }
};

std::string graph_of_cost(const std::string& item) {
  return graph_text([&](Builder& b) {
    b.fetch("cost", function_of_outputs<Cost>(item, ExampleOutputs::names())(b, ExampleOutputs::in(b))[0]);
  });
}

/// And its value for some samples: how parts become a number is not in the graph.
std::string graph_of_metric(const std::string& item) {
  const std::string graph = graph_text([&](Builder& b) {
    for (const Symbol& y :
         function_of_outputs<Metric>(item, ExampleOutputs::names())(b, ExampleOutputs::in(b)))
      b.fetch(std::to_string(b.graph().fetches().size()), y);
  });
  std::vector<Tensor> samples;
  for (const std::string& name : ExampleOutputs::names()) {
    const bool is_sum = name == "real" || name == "fake" || name == "match";
    const bool is_image = name == "restored" || name == "clean";
    const Shape shape = is_sum                   ? Shape{9}
                        : is_image               ? Shape{9, 1, 11, 12}
                        : name == "pixel_scores" ? Shape{9, 3, 4, 11}
                                                 : Shape{9, 3};
    if (name == "mask") {
      samples.push_back(Tensor(DType::kInt32, {9, 4, 11}));
      for (int64_t at = 0; at < samples.back().elements(); ++at)
        samples.back().data<int32_t>()[at] = static_cast<int32_t>(at / 5 % 3);
      continue;
    }
    samples.push_back(name == "label" || name == "grade" || name == "person"
                          ? Tensor::of<int32_t>({9}, {0, 1, 2, 1, 0, 1, 1, 2, 0})
                          : testkit::random_tensor(shape, samples.size() + 1));
  }
  return graph + shortest(MetricOfSamples{item, ExampleOutputs::names(), samples}.value());
}

const std::map<std::string, std::vector<std::string>> kNamesOfCosts = {{"layer or input", {"wide", "label"}},
                                                                       {"variables", {"a/W"}}};
const live::Fields kPolicyGradient(
    "cost", "PolicyGradient",
    {.base = "{logits: logits, actions: label, advantages: real, log_probabilities: fake}"});
const live::Fields kClippedPolicyGradient(
    "cost", "ClippedPolicyGradient",
    {.base = "{logits: logits, actions: label, advantages: real, log_probabilities: fake}"});
const live::Fields kSigmoidCost("cost", "SigmoidCrossEntropy", {.base = "{logits: logits, labels: wide}"});
const live::Fields kSigmoidMetric("metric", "SigmoidCrossEntropy",
                                  {.base = "{logits: logits, labels: wide}"});
const live::Fields kPolicyEntropy("cost", "PolicyEntropy", {.base = "{logits: logits}"});
const live::Fields kPrecision("metric", "Precision",
                              {.base = "{logits: logits, labels: label, average: macro}"});
const live::Fields kRecall("metric", "Recall",
                           {.base = "{logits: logits, labels: label, average: macro}",
                            .left_out = {{"average", "micro and weighted recall are the same number"}}});
const live::Fields kExpression("cost", "Expression", {.values = {{"expression", "2 * real"}}});
const live::Fields kExpressionMetric("metric", "Expression", {.values = {{"expression", "2 * real"}}});

TEST(Costs, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<Cost>::table(), {graph_of_cost, kNamesOfCosts}), testing::IsEmpty());
}

TEST(Metrics, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<Metric>::table(), {graph_of_metric, kNamesOfCosts}),
              testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
