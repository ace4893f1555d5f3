#include "model/model.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "backend/device.h"
#include "model/image_layouts.h"
#include "support/errors.h"
#include "support/small_model.h"

namespace tpack {
namespace {

using testing::ElementsAre;

std::string model_error(const std::string& yaml) {
  return error_from([&] { model_of(yaml); });
}

/// The tower's statistics in a phase.
std::vector<std::string> statistics(const TowerFunction& model, Phase phase) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {phase});
  std::vector<TensorSpec> fed;
  for (const TowerInput& input : model.inputs()) fed.push_back(input.batch_spec(4));
  std::vector<std::string> names;
  for (const Statistic& s : build_tower(b, model, fed, {}).statistics) names.push_back(s.name);
  return names;
}

TEST(Model, reads_inputs_with_what_they_are_bound_to) {
  const auto model = model_of(
      "inputs: {x: {shape: [8, 6, 3], dtype: uint8, layout: HWC}, y: {shape: [2], batched: false}}\n"
      "feed: {x: picture}\n"
      "layers: [{Normalize: {input: x}}]");
  ASSERT_EQ(model->inputs().size(), 2U);
  EXPECT_EQ(model->inputs()[0].component, "picture");
  EXPECT_EQ(model->inputs()[0].layout, "HWC");
  EXPECT_EQ(model->inputs()[0].batch_spec(4), (TensorSpec{DType::kUInt8, {4, 8, 6, 3}}));
  EXPECT_EQ(model->inputs()[1].batch_spec(4), (TensorSpec{DType::kFloat32, {2}}));
}

/// The values of a model with two terms, on a batch of two.
std::map<std::string, double> statistics_of_regularized(Phase phase) {
  const auto model = model_of(
      "inputs: {x: {shape: [3]}, y: {shape: [], dtype: int32}}\n"
      "layers: [{FullyConnected: {name: fc, units: 4, kernel_initializer: {Constant: {value: 2}}}}]\n"
      "cost: [{SoftmaxCrossEntropy: {logits: fc, labels: y}}, {Regularize: {variables: fc/W, l2: 1}}]");
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {phase});
  std::vector<std::string> names;
  for (const Statistic& one : build_tower(b, *model, batch_specs(*model, 2), {}).statistics)
    names.push_back(one.name);
  const auto device = make_reference_device("cpu:0", {});
  device->create_variables(table);
  device->variables().initialize(1);
  PlanSection section;
  const auto executable = device->compile(graph, section);
  const std::vector<Tensor> fed = {Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}),
                                   Tensor::of<int32_t>({2}, {0, 3})};
  executable->run(fed, {});
  std::map<std::string, double> values;
  for (size_t i = 0; i < names.size(); ++i)
    values[names[i]] = executable->fetched(2 * i).at(0) / executable->fetched(2 * i + 1).at(0);
  return values;
}

std::vector<PredictionTarget> targets(const std::string& cost, Phase phase) {
  const auto model = model_of(
      "inputs: {x: {shape: [3]}, y: {shape: [], dtype: int32}, z: {shape: [3]}}\n"
      "layers: [{FullyConnected: {name: fc, units: 3, input: x}}]\n"
      "cost: [" +
      cost + "]");
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {phase});
  return build_tower(b, *model, batch_specs(*model, 2), {}).targets;
}

TEST(Model, tells_in_inference_what_terms_of_the_cost_compare) {
  const auto of_class = targets(
      "{FocalLoss: {logits: fc, labels: y, ignore_label: -1}}, {Regularize: {l2: 1}}", Phase::kInference);
  ASSERT_EQ(of_class.size(), 1U);
  EXPECT_TRUE(of_class[0].has_scores());
  EXPECT_EQ(of_class[0].term, "focal_loss");
  EXPECT_EQ(of_class[0].targets_name, "y");
  EXPECT_EQ(of_class[0].ignored, -1);
  EXPECT_TRUE(targets("{FocalLoss: {logits: fc, labels: y}}", Phase::kTraining).empty());
  EXPECT_TRUE(targets("{SigmoidCrossEntropy: {logits: fc, labels: 1}}", Phase::kInference).empty());
  for (const auto& [cost, form] :
       {std::pair("{SoftmaxCrossEntropy: {logits: fc, labels: y}}", "scores"),
        std::pair("{SigmoidCrossEntropy: {logits: fc, labels: z}}", "logits"),
        std::pair("{Hinge: {logits: fc, labels: z}}", "logits"),
        std::pair("{MeanSquaredError: {predictions: fc, targets: z}}", "numbers"),
        std::pair("{MeanAbsoluteError: {predictions: fc, targets: z}}", "numbers"),
        std::pair("{MeanAbsolutePercentageError: {predictions: fc, targets: z}}", "numbers"),
        std::pair("{Huber: {predictions: fc, targets: z}}", "numbers"),
        std::pair("{Quantile: {predictions: fc, targets: z}}", "numbers")}) {
    const auto all = targets(cost, Phase::kInference);
    ASSERT_EQ(all.size(), 1U) << cost;
    EXPECT_STREQ(all[0].has_scores() ? "scores" : all[0].has_logits() ? "logits" : "numbers", form) << cost;
  }
}

TEST(Model, has_the_same_cost_in_training_and_in_inference) {
  const auto training = statistics_of_regularized(Phase::kTraining);
  const auto inference = statistics_of_regularized(Phase::kInference);
  EXPECT_NEAR(training.at("cost"), std::log(4), 1e-6) << "all scores are equal";
  EXPECT_NEAR(inference.at("cost"), std::log(4), 1e-6);
  EXPECT_NEAR(training.at("regularize"), 12 * 4 / 2.0, 1e-5);
  EXPECT_FALSE(inference.contains("regularize"));
}

TEST(Model, names_statistics_after_costs_and_metrics) {
  const auto model = model_of(kSmallModel);
  EXPECT_THAT(statistics(*model, Phase::kTraining),
              ElementsAre("cost", "softmax_cross_entropy", "regularize", "accuracy"));
  EXPECT_THAT(statistics(*model, Phase::kInference),
              ElementsAre("cost", "softmax_cross_entropy", "accuracy"));
}

TEST(Model, numbers_metrics_of_one_type) {
  const auto model = model_of(
      "inputs: {x: {shape: [5]}, y: {shape: [], dtype: int32}}\n"
      "layers: [{FullyConnected: {name: f, units: 3, input: x}}]\n"
      "metrics: [{Accuracy: {logits: f, labels: y}}, {InTopK: {logits: f, labels: y, k: 2}}, "
      "{InTopK: {logits: f, labels: y, k: 3}}]");
  EXPECT_THAT(statistics(*model, Phase::kTraining), ElementsAre("accuracy", "in_top_k", "in_top_k_1"));
}

TEST(Model, names_costs_and_metrics_as_they_say) {
  const std::string start =
      "inputs: {x: {shape: [5]}, y: {shape: [], dtype: int32}}\n"
      "layers: [{FullyConnected: {name: f, units: 3, input: x}}]\n";
  const auto model =
      model_of(start +
               "cost: [{SoftmaxCrossEntropy: {logits: f, labels: y, name: main}}, {Regularize: {l2: 0.1}}]\n"
               "metrics: [{InTopK: {logits: f, labels: y, k: 2, name: top_2}}, {Mean: {output: f}}]");
  EXPECT_THAT(statistics(*model, Phase::kTraining),
              ElementsAre("cost", "main", "regularize", "top_2", "mean"));
  EXPECT_EQ(model_error(start + "metrics: [{Mean: {output: f, name: a/b}}]"),
            "test.yaml:3:18: 'name' is 'a/b'; use letters, digits, '_', '-' and '.'");
  const auto twice =
      model_of(start + "metrics: [{Mean: {output: f, name: a}}, {Mean: {output: x, name: a}}]");
  EXPECT_THROW(statistics(*twice, Phase::kTraining), ConfigError);
}

TEST(Model, gives_a_weight_with_a_schedule_the_name_of_its_term) {
  const auto model = model_of(
      "inputs: {x: {shape: [5]}, y: {shape: [], dtype: int32}}\n"
      "layers: [{FullyConnected: {name: f, units: 3, input: x}}]\n"
      "cost: [{SoftmaxCrossEntropy: {logits: f, labels: y, weight: {Linear: {start: 1}}}}]");
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  build_tower(b, *model, batch_specs(*model, 4), {});
  EXPECT_EQ(table.hyper_parameters(), std::vector<std::string>{"softmax_cross_entropy_weight"});
  EXPECT_EQ(table.schedules().size(), 1U);
}

TEST(Model, reports_all_that_is_wrong_with_its_places) {
  EXPECT_TRUE(says(model_error("layer: [ReLU]"),
                   {"test.yaml:1:1:", "unknown key 'layer' in model", "did you mean 'layers'?",
                    "'inputs' is missing", "'layers' is missing"}));
  EXPECT_TRUE(says(model_error("inputs: {x: {shape: [8, 6], layout: HWC}}\n"
                               "feed: {y: image}\n"
                               "defaults: {Conv2X: {kernel: 3}, Conv2D: {kernels: 3}}\n"
                               "layers: [ReLU]\n"
                               "cost: [{SoftmaxCrossEntrop: {}}]\n"
                               "metrics: 3"),
                   {"test.yaml:1:13:", "layout HWC needs a shape", "test.yaml:2:8:",
                    "unknown input 'y'; known: x", "test.yaml:3:12:", "unknown layer 'Conv2X'",
                    "did you mean 'Conv2D'?", "test.yaml:3:42:", "'kernels' in layer Conv2D",
                    "did you mean 'kernel'?", "test.yaml:5:9:", "unknown cost 'SoftmaxCrossEntrop'",
                    "did you mean", "test.yaml:6:10:", "expected a list of metrics, found"}));
}

TEST(Model, reports_errors_of_layers_costs_and_metrics_at_once) {
  const auto model = model_of(
      "inputs: {x: {shape: [5]}, label: {shape: [], dtype: int32}}\n"
      "layers:\n"
      "  - FullyConnected: {name: a, units: 3, input: z}\n"
      "  - ReLU: {name: b}\n"  // depends on a failed one: no error of its own
      "  - Residual: {name: c, layers: [{FullyConnected: {name: d, units: 4}}], input: x}\n"
      "  - FullyConnected: {name: e, units: 3, input: x}\n"
      "cost:\n"
      "  - SoftmaxCrossEntropy: {logits: b, labels: lable}\n"
      "  - SoftmaxCrossEntropy: {logits: e, labels: lable}\n"
      "  - Regularize: {variables: a/W, l2: 0.1}\n"
      "metrics:\n"
      "  - Accuracy: {logits: f, labels: label}\n"
      "  - Accuracy: {logits: c/d, labels: lable}");
  const std::string error = error_from([&] { statistics(*model, Phase::kTraining); });
  EXPECT_TRUE(says(error, {"test.yaml:3:48: unknown layer or input 'z'; known: label, x\ntest.yaml:5:5: c: ",
                           "\ntest.yaml:9:46: ", "did you mean 'label'?\ntest.yaml:12:24: ",
                           "'f'; known: a, b, c, c/d, e, label, x\ntest.yaml:13:37: "}));
}

TEST(Model, writes_every_default_out) {
  const ConfigNode all = effective_model(parse_yaml("{inputs: {}, layers: [ReLU]}", "test.yaml"));
  for (const char* key : {"inputs", "feed", "defaults", "blocks", "layers", "cost", "metrics"})
    EXPECT_NE(all.find(key), nullptr) << key;
}

struct DoublingParams {
  double factor = 2;
};

/// y = 2 x, written in C++.
class Doubling final : public Model {
 public:
  using Params = DoublingParams;
  static Schema<Params> schema() {
    return Schema<Params>("Doubles.").field("factor", &Params::factor, "or multiplies by this");
  }
  explicit Doubling(Params p) : p_(p) {}
  std::map<std::string, Symbol> build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    return {{"twice", b.mul(in.at("x"), p_.factor)}};
  }

 private:
  Params p_;
};
TPACK_REGISTER(Model, Doubling, "Doubling");

TEST(Model, keeps_expressions_of_one_in_cpp) {
  const auto layers = [](const char* yaml) {
    return to_json(*effective_model(parse_yaml(yaml, "test.yaml")).find("layers"));
  };
  EXPECT_EQ(layers("{inputs: {}, layers: Doubling}"), R"j({"Doubling": {"factor": 2}})j");
  EXPECT_EQ(layers("{inputs: {}, layers: {Doubling: {factor: $(f)}}}"),
            R"j({"Doubling": {"factor": "$(f)"}})j");
}

TEST(Model, may_be_written_in_cpp) {
  const auto model = model_of("inputs: {x: {shape: [3]}}\nlayers: Doubling");
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const TowerResult result = build_tower(b, *model, {{DType::kFloat32, {4, 3}}}, {"twice"});
  EXPECT_EQ(result.outputs.at("twice").shape(), (Shape{4, 3}));
  EXPECT_TRUE(result.costs.empty());
}

TEST(Model, takes_the_layout_of_an_image_from_the_data) {
  const auto is_picture = [](const std::string& component) { return component == "picture"; };
  const auto layouts = [&](const std::string& yaml) {
    const ConfigNode filled = with_image_layouts(parse_yaml(yaml, "test.yaml"), is_picture);
    std::map<std::string, std::string> found;
    for (const ConfigNode::Entry& entry : filled.find("inputs")->entries()) {
      const ConfigNode* layout = entry.value.find("layout");
      found[entry.key] = layout == nullptr ? "" : layout->text();
    }
    return found;
  };
  using Layouts = std::map<std::string, std::string>;
  EXPECT_EQ(layouts("inputs: {picture: {shape: [4, 4, 3]}, other: {shape: [4, 4, 3]}, label: {shape: []}}"),
            (Layouts{{"picture", "HWC"}, {"other", ""}, {"label", ""}}));
  EXPECT_EQ(
      layouts(
          "{inputs: {x: {shape: [4, 4, 3]}, picture: {shape: [4, 4, 3]}}, feed: {x: picture, picture: y}}"),
      (Layouts{{"x", "HWC"}, {"picture", ""}}))
      << "the component counts, not the name of the input";
  EXPECT_EQ(layouts("inputs: {picture: {shape: [4, 4, 3], layout: CHW}}"), (Layouts{{"picture", "CHW"}}));
  EXPECT_EQ(layouts("inputs: {picture: {shape: [48]}}"), (Layouts{{"picture", ""}}));
  EXPECT_EQ(layouts("inputs: {picture: {shape: $(vars.shape)}}"), (Layouts{{"picture", "HWC"}}));
}

TEST(Model, asks_for_the_layout_of_three_axes) {
  const std::string rest = R"(
layers: [FullyConnected: {name: fc, units: 3}]
cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]
)";
  const auto with_input = [&](const std::string& image) {
    return model_error("inputs: {image: " + image + ", label: {shape: [], dtype: int32}}" + rest);
  };
  EXPECT_TRUE(says(with_input("{shape: [4, 5, 6]}"),
                   {"test.yaml:1:17:", "'layout' is missing, and the", "write layout: HWC or CHW, or"}));
  for (const char* fine :
       {"{shape: [4, 5, 6], layout: none}", "{shape: [4, 5, 6], layout: CHW}", "{shape: [4, 5]}"})
    EXPECT_EQ(with_input(fine), "no error");
}

}  // namespace
}  // namespace tpack
