#include "predict/predict_outputs.h"

namespace tpack {
namespace {

constexpr const char* kInput = "input";

/// {Softmax: fc1} or {Softmax: {input: fc1, ...}}.
std::optional<PredictOutput> parse_layer(const std::string& name, const ConfigNode& node,
                                         Diagnostics& errors) {
  ComponentItem item = component_item(node, Layer::kKind);
  const ConfigNode* input = item.params.is_map() ? item.params.find(kInput) : &item.params;
  if (input == nullptr || !input->is_string()) {
    errors.add(item.position, "output '" + name + "' of predict: say which output " + item.name +
                                  " is applied to, as in {" + item.name + ": fc1}");
    return std::nullopt;
  }
  PredictOutput output{name, {input->text(), input->position()}};
  item.params = item.params.is_map() ? item.params.without(kInput) : ConfigNode();
  output.layer = Registry<Layer>::make(item, errors);
  return output.layer ? std::optional(std::move(output)) : std::nullopt;
}

void parse_one(const std::string& name, const ConfigNode& node, std::vector<PredictOutput>& outputs,
               Diagnostics& errors) {
  if (node.is_string()) {
    outputs.push_back({name, {node.text(), node.position()}});
    return;
  }
  try {
    if (auto output = parse_layer(name, node, errors)) outputs.push_back(std::move(*output));
  } catch (const ConfigError& error) {
    errors.add(error, node.position());
  }
}

}  // namespace

std::vector<PredictOutput> parse_predict_outputs(const ConfigNode& node, Diagnostics& errors) {
  std::vector<PredictOutput> outputs;
  if (node.is_map()) {
    for (const ConfigNode::Entry& entry : node.entries()) parse_one(entry.key, entry.value, outputs, errors);
  } else if (node.is_list()) {
    for (const ConfigNode& item : node.items()) {
      if (!item.is_string())
        errors.add(item.position(), "'outputs' of predict: expected the name of an output, found " +
                                        item.describe() + "; to apply a layer write {NAME: {LAYER: OUTPUT}}");
      else
        parse_one(item.text(), item, outputs, errors);
    }
  } else {
    errors.add(node.position(),
               "'outputs' of predict: expected a list of outputs or a map of name to "
               "output, found " +
                   node.describe());
  }
  return outputs;
}

}  // namespace tpack
