#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "core/expression.h"
#include "layers/network.h"
#include "testkit/gradient_check.h"

/// The table of layers that gradient and backend tests share. Every registered layer must have a case here
/// (layer_test.cpp checks this).
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
    for (size_t i = 0; i < in.size(); ++i) network.add_output("x" + std::to_string(i), in[i]);
    return std::vector{network.build(*list, in[0])};
  };
}

struct LayerCase {
  std::string layer;  // name in the registry
  std::string yaml;   // a list of layers that contains it
  std::vector<Tensor> inputs;
  std::string note = {};
};

inline void PrintTo(const LayerCase& c, std::ostream* out) { *out << c.layer << " " << c.note; }

/// Input for layers with a kink at zero: no element is near it.
inline Tensor away_from_zero(const Shape& shape, uint64_t seed) {
  return random_tensor(shape, seed, DType::kFloat64, -1, 1, 0.05);
}

inline std::vector<LayerCase> layer_cases() {
  const Shape image{2, 3, 5, 4};
  return {
      {"Add", "- Add: {input: [x0, x1, x0]}", {random_tensor(image, 1), random_tensor(image, 2)}},
      {"Add",  // both biases have the same gradient
       "[{Conv2D: {name: a, filters: 4, input: x0}}, {Conv2D: {name: b, filters: 4, input: x0}}, "
       "{Add: {input: [a, b]}}]",
       {random_tensor(image, 1)},
       "biased_convolutions"},
      {"Add",
       "[{FullyConnected: {name: a, units: 4, input: x0}}, {FullyConnected: {name: b, units: 4, input: x0}}, "
       "{Add: {input: [a, b]}}]",
       {random_tensor({3, 5}, 1)},
       "biased_products"},
      {"Add",
       "[{BatchNorm: {name: a, input: x0}}, {BatchNorm: {name: b, input: x0}}, {Add: {input: [a, b]}}]",
       {random_tensor({4, 3, 2, 2}, 1)},
       "normalized"},
      {"AvgPooling", "- AvgPooling: {window: 2}", {random_tensor(image, 1)}},
      {"AvgPooling",
       "- AvgPooling: {window: 3, stride: 2, padding: same}",
       {random_tensor(image, 1)},
       "same"},
      {"BatchNorm", "- BatchNorm", {random_tensor({4, 3, 2, 2}, 1)}},
      {"BatchNorm", "- BatchNorm: {training: false}", {random_tensor(image, 1)}, "averages"},
      {"BatchNorm", "- BatchNorm: {center: false, scale: false}", {random_tensor({6, 3}, 1)}, "plain"},
      {"Call",  // twice, with the same variables
       "[{Call: {name: a, network: twin, input: x0}}, {Call: {name: b, network: twin, input: a}}, "
       "{Call: {network: pair, input: [a, b]}}]",
       {random_tensor({3, 5}, 1)}},
      {"Conv2D", "- Conv2D: {filters: 4}", {random_tensor(image, 1)}},
      {"Conv2D",
       "- Conv2D: {filters: 6, kernel: [3, 2], stride: 2, groups: 3, use_bias: false}",
       {random_tensor(image, 1)},
       "groups"},
      {"Conv2D",
       "- Conv2D: {filters: 2, padding: valid, dilation: [2, 1], activation: Tanh}",
       {random_tensor(image, 1)},
       "valid"},
      {"Dropout", "- Dropout: {rate: 0.3}", {random_tensor(image, 1)}},
      {"FullyConnected", "- FullyConnected: {units: 4, activation: Sigmoid}", {random_tensor({3, 5}, 1)}},
      {"FullyConnected", "- FullyConnected: {units: 2, use_bias: false}", {random_tensor(image, 1)}, "image"},
      {"GlobalAvgPooling", "- GlobalAvgPooling", {random_tensor(image, 1)}},
      {"Identity", "- Identity", {random_tensor(image, 1)}},
      {"LeakyReLU", "- LeakyReLU: {alpha: 0.3}", {away_from_zero(image, 1)}},
      {"MaxPooling", "- MaxPooling: {window: 2}", {random_tensor(image, 1)}},
      {"MaxPooling",
       "- MaxPooling: {window: 3, stride: 2, padding: same}",
       {random_tensor(image, 1)},
       "same"},
      {"Normalize", "- Normalize: {scale: 0.5, offset: -1}", {random_tensor(image, 1)}},
      {"Normalize", "[Tanh, {Normalize: {scale: 1.0e-5}}]", {random_tensor(image, 1)}, "small"},
      {"Pad", "- Pad: {image: [1, 0, 2, 1], channels: [1, 2]}", {random_tensor(image, 1)}},
      {"RandomNormal",
       "[{RandomNormal: {name: z, shape: [4], mean: 1, stddev: 0.5}}, {Add: {input: [z, x0]}}]",
       {random_tensor({3, 4}, 1)}},
      {"ReLU", "- ReLU", {away_from_zero(image, 1)}},
      {"Repeat",
       "- Repeat: {count: 2, layers: [{FullyConnected: {units: \"$(3 + i)\", activation: Tanh}}]}",
       {random_tensor({2, 3}, 1)}},
      {"Residual",
       "- Residual: {layers: [{Conv2D: {filters: 2}}, Tanh], shortcut: [{Conv2D: {filters: 2, kernel: 1}}]}",
       {random_tensor(image, 1)}},
      {"Residual",  // the biases that are added have the same gradient
       "[{Conv2D: {filters: 4}}, {Residual: {layers: [{Conv2D: {filters: 4}}, Tanh, {Conv2D: {filters: "
       "4}}]}}, "
       "{Residual: {layers: [{Conv2D: {filters: 4}}], shortcut: [{Conv2D: {filters: 4, kernel: 1}}]}}]",
       {random_tensor(image, 1)},
       "biases"},
      {"Sigmoid", "- Sigmoid", {random_tensor(image, 1)}},
      {"Softmax", "- Softmax", {random_tensor({3, 4}, 1)}},
      {"Tanh", "- Tanh", {random_tensor(image, 1)}},
      {"WithDefaults",
       "- WithDefaults: {defaults: {FullyConnected: {units: 3}}, layers: [FullyConnected, Tanh]}",
       {random_tensor({2, 4}, 1)}},
  };
}

}  // namespace tpack
