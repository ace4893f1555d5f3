#include "costs/class_weights.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "layers/layer_cases.h"

namespace tpack {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

/// The variables of a model whose cost has these weights.
std::vector<VariableSpec> variables_of(const std::string& weights, const std::string& labels = "y") {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const MapScope scope(ConfigNode::map({}));
  Diagnostics errors;
  const auto model =
      make_model(parse_yaml("inputs: {x: {shape: [3]}, y: {shape: [], dtype: int32}}\n"
                            "layers: [{Identity: {name: same, input: y}}, {Identity: {name: s, input: x}}]\n"
                            "cost: [{SoftmaxCrossEntropy: {logits: s, labels: " +
                                labels + ", class_weights: " + weights + "}}]",
                            "model.yaml"),
                 scope, errors);
  errors.throw_if_any();
  const Symbol x = b.input("x", {DType::kFloat32, {4, 3}});
  const Symbol y = b.input("y", {DType::kInt32, {4}});
  model->build(b, {{"x", x}, {"y", y}});
  std::vector<VariableSpec> all;
  for (const VariableSpec* spec : table.all()) all.push_back(*spec);
  return all;
}

std::vector<double> filled(const std::string& weights, const std::vector<ClassCount>& counts) {
  return variables_of(weights).at(0).of_classes->value(counts, 3);
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ClassWeights, that_are_balanced_let_all_classes_add_the_same) {
  const VariableSpec variable = variables_of("balanced").at(0);
  EXPECT_EQ(variable.name, "class_weights/y/balanced");
  EXPECT_FALSE(variable.trainable);
  EXPECT_EQ(variable.of_classes->input, "y");
  // As scikit-learn's compute_class_weight("balanced"): 10 / (3 * count).
  EXPECT_THAT(
      filled("balanced", {{"a", 5}, {"b", 4}, {"c", 1}}),
      ElementsAre(DoubleNear(2.0 / 3, 1e-15), DoubleNear(10.0 / 12, 1e-15), DoubleNear(10.0 / 3, 1e-15)));
  EXPECT_THAT(filled("balanced", {{"a", 5}, {"b", 0}, {"c", 5}}), ElementsAre(1, 1, 1))
      << "of those that there are";
}

/// Between equal weights and balanced ones, with a mean of 1 over the samples.
TEST(ClassWeights, by_the_effective_number_of_samples) {
  const auto of = [](double samples) { return 1 / (1 - std::pow(0.9, samples)); };
  const double mean = (5 * of(5) + 4 * of(4) + of(1)) / 10;
  EXPECT_THAT(filled("{effective_number: 0.9}", {{"a", 5}, {"b", 4}, {"c", 1}}),
              ElementsAre(DoubleNear(of(5) / mean, 1e-14), DoubleNear(of(4) / mean, 1e-14),
                          DoubleNear(of(1) / mean, 1e-14)));
  EXPECT_NE(variables_of("{effective_number: 0.9}").at(0).name,
            variables_of("{effective_number: 0.99}").at(0).name);
  for (const char* const bad :
       {"{effective_number: 1}", "{effective_number: 0}", "{effective_number: 0.9, a: 2}"})
    EXPECT_THAT(error_of([&] { variables_of(bad); }), HasSubstr("a beta above 0 and below 1")) << bad;
}

TEST(ClassWeights, by_name_leave_the_others_as_they_are) {
  EXPECT_THAT(filled("{c: 4, a: 0.5}", {{"a", 1}, {"b", 1}, {"c", 1}}), ElementsAre(0.5, 1, 4));
  EXPECT_THAT(error_of([] {
                filled("{cc: 4}", {{"a", 1}, {"b", 1}, {"c", 1}});
              }),
              HasSubstr("data.train has no class 'cc'; did you mean 'c'?; the classes are a, b, c"));
  EXPECT_THAT(error_of([] {
                filled("{a: 4}", {{"", 1}, {"", 1}});
              }),
              HasSubstr("have no names: write a list"));
  EXPECT_NE(variables_of("{a: 2}").at(0).name, variables_of("{a: 3}").at(0).name) << "values of their own";
}

TEST(ClassWeights, in_a_list_need_no_data) {
  EXPECT_TRUE(variables_of("[1, 2, 3]").empty());
  EXPECT_THAT(error_of([] { variables_of("[1, 2]"); }),
              HasSubstr("'class_weights' has 2 weights for 3 classes"));
  EXPECT_THAT(error_of([] { variables_of("[1, -2, 3]"); }), HasSubstr("a weight of at least 0"));
  EXPECT_THAT(error_of([] { variables_of("balance"); }),
              HasSubstr("balanced, {effective_number: 0.999}, {class: weight} or a list of weights"));
  EXPECT_THAT(error_of([] { variables_of("balanced", "same"); }),
              HasSubstr("'same' is computed; write a list of weights"));
}

}  // namespace
}  // namespace tpack
