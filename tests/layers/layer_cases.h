#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "core/expression.h"
#include "golden/golden.h"
#include "model/layer_parser.h"
#include "model/model.h"
#include "model/network_builder.h"
#include "testkit/gradient_check.h"

/// The cases of layers that gradient and backend tests share: those of the golden file, which
/// tests/golden/make_layers.py makes, and combinations of layers.
namespace tpack {

using testkit::random_tensor;

/// A list of layers as a function of its inputs, which the layers may refer to as x0, x1, ...
inline testkit::Function function_of(const std::string& layers_yaml) {
  static const LayerParserSettings kSettings{
      ConfigNode::map({}),
      {},
      {{"identity", parse_yaml("[Identity]", "networks.yaml")},
       {"twin", parse_yaml("[{FullyConnected: {units: 5}}, Tanh]", "networks.yaml")},
       {"pair", parse_yaml("{inputs: [a, b], layers: [{Add: {input: [b, a]}}, Sigmoid]}", "networks.yaml")}}};
  const MapScope scope(ConfigNode::map({}));
  Diagnostics errors;
  LayerParser parser(kSettings, scope, errors);
  const auto list = std::make_shared<ParsedList>(parser.parse(parse_yaml(layers_yaml, "layers.yaml")));
  errors.throw_if_any();
  return [list](Builder& b, std::span<const Symbol> in) {
    NetworkBuilder network(b);
    for (size_t i = 0; i < in.size(); ++i) network.add_input("x" + std::to_string(i), in[i]);
    return std::vector{network.build(*list, in[0])};
  };
}

/// The cost of a model section as a function of its inputs, which are called x0, x1, ...
inline testkit::Function cost_of(const std::string& model_yaml) {
  const MapScope scope(ConfigNode::map({}));
  Diagnostics errors;
  const std::shared_ptr<const TowerFunction> model =
      make_model(parse_yaml(model_yaml, "model.yaml"), scope, errors);
  errors.throw_if_any();
  return [model](Builder& b, std::span<const Symbol> in) {
    std::map<std::string, Symbol> inputs;
    for (size_t i = 0; i < in.size(); ++i) inputs["x" + std::to_string(i)] = in[i];
    return std::vector{model->build(b, inputs).costs.at(kCost)};
  };
}

/// True if a component is used somewhere in layers or a model section.
inline bool has_component(const ConfigNode& node, const std::string& name) {
  const auto in_item = [&](const ConfigNode& item) { return has_component(item, name); };
  if (node.is_list()) return std::any_of(node.items().begin(), node.items().end(), in_item);
  if (!node.is_map()) return node.is_string() && node.text() == name;
  return std::any_of(node.entries().begin(), node.entries().end(), [&](const ConfigNode::Entry& entry) {
    return entry.key == name || has_component(entry.value, name);
  });
}

struct LayerCase {
  std::string name;
  std::string component;  // name in the registry
  std::string yaml;       // layers or a model section
  testkit::Function function;
  std::vector<Tensor> inputs;
};

inline void PrintTo(const LayerCase& c, std::ostream* out) { *out << c.name; }

/// The cases of the golden file whose gradients take moments to be checked element by element.
inline std::vector<LayerCase> small_golden_cases() {
  constexpr int64_t kMaxElements = 300;
  std::vector<LayerCase> cases;
  const golden::Json file = golden::read("layers.json");
  for (const golden::Json& c : file.at("cases")) {
    LayerCase one{c.at("name"), c.at("covers"), c.at(c.contains("model") ? "model" : "layers"), {}, {}};
    int64_t elements = 0;  // that vary
    for (const auto& [name, spec] : c.at("inputs").items()) {
      one.inputs.push_back(golden::draw("layers/" + one.name + "/" + name, spec, DType::kFloat64));
      if (is_float(one.inputs.back().dtype())) elements += one.inputs.back().elements();
    }
    bool has_gradient = false;
    for (const auto& [name, summary] : c.at("results").items())
      has_gradient = has_gradient || name.starts_with("gradient/");
    if (!has_gradient || elements > kMaxElements) continue;
    one.function = c.contains("model") ? cost_of(one.yaml) : function_of(one.yaml);
    cases.push_back(std::move(one));
  }
  return cases;
}

inline std::vector<LayerCase> layer_cases() {
  const Shape image{2, 3, 5, 4};
  std::vector<LayerCase> cases = small_golden_cases();
  const auto add = [&](const char* name, const char* component, const char* yaml, const Tensor& x) {
    cases.push_back({name, component, yaml, function_of(yaml), {x}});
  };
  add("add_of_biased_convolutions", "Add",  // both biases have one gradient
      "[{Conv2D: {name: a, filters: 4, input: x0}}, {Conv2D: {name: b, filters: 4, input: x0}}, "
      "{Add: {input: [a, b]}}]",
      random_tensor(image, 1));
  add("add_of_biased_products", "Add",
      "[{FullyConnected: {name: a, units: 4, input: x0}}, {FullyConnected: {name: b, units: 4, input: x0}}, "
      "{Add: {input: [a, b]}}]",
      random_tensor({3, 5}, 1));
  add("add_of_normalized", "Add",
      "[{BatchNorm: {name: a, input: x0}}, {BatchNorm: {name: b, input: x0}}, {Add: {input: [a, b]}}]",
      random_tensor({4, 3, 2, 2}, 1));
  add("call_twice", "Call",  // with the same variables
      "[{Call: {name: a, network: twin, input: x0}}, {Call: {name: b, network: twin, input: a}}, "
      "{Call: {network: pair, input: [a, b]}}]",
      random_tensor({3, 5}, 1));
  add("normalize_to_small", "Normalize", "[Tanh, {Normalize: {scale: 1.0e-5}}]", random_tensor(image, 1));
  add("random_normal_added", "RandomNormal",
      "[{RandomNormal: {name: z, shape: [4], mean: 1, stddev: 0.5}}, {Add: {input: [z, x0]}}]",
      random_tensor({3, 4}, 1));
  add("residual_biases", "Residual",  // the biases that are added have one gradient
      "[{Conv2D: {filters: 4}}, {Residual: {layers: [{Conv2D: {filters: 4}}, Tanh, {Conv2D: {filters: "
      "4}}]}}, "
      "{Residual: {layers: [{Conv2D: {filters: 4}}], shortcut: [{Conv2D: {filters: 4, kernel: 1}}]}}]",
      random_tensor(image, 1));
  return cases;
}

}  // namespace tpack
