#include "predict/predict_outputs.h"

#include "graph/structural.h"

namespace tpack {
namespace {

constexpr const char* kInput = "input";
constexpr const char* kOutput = "output";

struct DescribedOutput {
  ConfigNode output;
  std::optional<std::pair<double, double>> range;
};

Schema<DescribedOutput> described_output_schema() {
  return Schema<DescribedOutput>("An output of predict.")
      .field(kOutput, &DescribedOutput::output, "an output of the model, or a layer applied to one")
      .type(FieldType::either({FieldType::reference(LayerOutput::kWhat), FieldType::component(Layer::kKind)},
                              "an output, or a layer"))
      .required()
      .field("range", &DescribedOutput::range,
             "values of an image that `infer --images` draws as black and white; default: [0, 1] after a "
             "Sigmoid, [-1, 1] after a Tanh, else chosen from the values and logged");
}

/// {Softmax: fc1} or {Softmax: {input: fc1, ...}}.
std::optional<PredictOutput> parse_layer(const std::string& name, const ConfigNode& node,
                                         Diagnostics& errors) {
  ComponentItem item = component_item(node, Layer::kKind);
  const ConfigNode* input = item.params.is_map() ? item.params.find(kInput) : &item.params;
  if (input == nullptr || !input->is_string()) {
    errors.add(item.position, "output '" + name + "' of predict: name the output for " + item.name +
                                  ", as in {" + item.name + ": fc1}");
    return std::nullopt;
  }
  PredictOutput output{name, {input->text(), input->position()}};
  item.params = item.params.is_map() ? item.params.without(kInput) : ConfigNode();
  output.layer = Registry<Layer>::make(item, errors);
  return output.layer ? std::optional(std::move(output)) : std::nullopt;
}

void parse_one(const std::string& name, const ConfigNode& node, std::vector<PredictOutput>& outputs,
               Diagnostics& errors);

void parse_described(const std::string& name, const ConfigNode& node, std::vector<PredictOutput>& outputs,
                     Diagnostics& errors) {
  const auto p = described_output_schema().parse(node, "output " + name + " of predict", errors);
  const bool is_empty = p.range && p.range->first == p.range->second;
  if (is_empty)
    errors.add(node.position(), "output '" + name + "' of predict: the two values of 'range' must differ");
  const size_t before = outputs.size();
  if (!p.output.is_null()) parse_one(name, p.output, outputs, errors);
  if (p.range && outputs.size() > before) outputs.back().range = {p.range->first, p.range->second};
}

void parse_one(const std::string& name, const ConfigNode& node, std::vector<PredictOutput>& outputs,
               Diagnostics& errors) {
  if (node.is_map() && node.find(kOutput) != nullptr) return parse_described(name, node, outputs, errors);
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

const Symbol& find_output(const std::map<std::string, Symbol>& outputs, const Ref<LayerOutput>& ref) {
  const auto found = outputs.find(ref.name);
  if (found != outputs.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, symbol] : outputs) known.push_back(name);
  throw unknown_reference(LayerOutput::kWhat, ref.name, ref.position, known);
}

/// The same values in the shape in which they were computed.
Symbol before_reshapes(Symbol y) {
  while (op_cast<Reshape>(*y.node) != nullptr || op_cast<Transpose>(*y.node) != nullptr)
    y = y.node->inputs[0];
  return y;
}

/// Probabilities of probabilities are meaningless: with two classes, the highest is 0.73.
void reject_twice(const Builder& b, const PredictOutput& output, Symbol from, Symbol y) {
  const bool is_same = before_reshapes(from) == before_reshapes(y);
  if (is_same || !b.meaning(from).is_any_probability() || !b.meaning(y).is_any_probability()) return;
  const bool is_softmax = b.meaning(from).sums_to_one;
  throw ConfigError(output.from.position, "output '" + output.name + "' of predict: '" + output.from.name +
                                              "' is the output of a " + (is_softmax ? "softmax" : "sigmoid") +
                                              "; write " + output.name + ": " + output.from.name +
                                              ", or name the output before it");
}

}  // namespace

void fetch_outputs(Builder& b, const VariableTable& table, const std::map<std::string, Symbol>& tower,
                   const std::vector<PredictOutput>& outputs) {
  for (const PredictOutput& output : outputs) {
    const Symbol from = find_output(tower, output.from);
    const Builder::NameScope scope(b, output.name, output.from.position);
    const size_t trained = table.all().size();
    const Symbol y = output.layer ? output.layer->build(b, std::span(&from, 1)) : from;
    if (output.layer) reject_twice(b, output, from, y);
    b.fetch(output.name, y);
    if (table.all().size() == trained) continue;
    throw ConfigError(output.from.position, "output '" + output.name +
                                                "' of predict has a layer with untrained variables; "
                                                "put that layer into the model");
  }
}

FieldType described_output_type() {
  return FieldType::section(described_output_schema().fields(), "an output", "");
}

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
  if ((node.is_map() || node.is_list()) && node.size() == 0)
    errors.add(node.position(),
               "'outputs' of predict is empty; name an output, as in {probability: {Softmax: fc1}}");
  return outputs;
}

}  // namespace tpack
