#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/field.h"
#include "model/layer.h"

namespace tpack {

/// The values of black and white.
using PixelRange = std::array<double, 2>;

/// A predicted value: an output of the model, or a layer applied to one.
struct PredictOutput {
  std::string name;
  Ref<LayerOutput> from;
  std::shared_ptr<const Layer> layer = nullptr;  // null: the output itself
  std::optional<PixelRange> range = {};          // of an image, if it is set
};

/// The form of an output with more than a name or a layer: {output: decoded, range: [0, 1]}.
FieldType described_output_type();

/// Reads `outputs` of `predict`: names of outputs ([fc1, ...]), or a map
///   {scores: fc1, probability: {Softmax: fc1}, leaky: {LeakyReLU: {input: fc1, alpha: 0.1}},
///    picture: {output: decoded, range: [0, 1]}}.
/// Reports all errors.
std::vector<PredictOutput> parse_predict_outputs(const ConfigNode& node, Diagnostics& errors);

/// Adds the outputs to a tower in inference and fetches each by its name. `table`: the builder's. Errors:
/// ConfigError for outputs that the tower does not have, and for a layer with variables, because they are
/// untrained.
void fetch_outputs(Builder& b, const VariableTable& table, const std::map<std::string, Symbol>& tower,
                   const std::vector<PredictOutput>& outputs);

}  // namespace tpack
