#include "experiment/given_inputs.h"

#include <algorithm>

#include "config/yaml_reader.h"
#include "core/text.h"

namespace tpack {
namespace {

const TowerInput& input_of(const Experiment& experiment, const std::string& name) {
  std::vector<std::string> known;
  for (const TowerInput& input : experiment.tower->inputs()) {
    if (input.name == name) return input;
    known.push_back(input.name);
  }
  throw ConfigError("--input: the model has no input '" + name + "'" + did_you_mean(name, known) +
                    "; it has " + join(known, ", "));
}

/// The label of a class name.
double label_of(const Experiment& experiment, const TowerInput& input, const std::string& name) {
  const auto known =
      experiment.fit == nullptr ? std::nullopt : experiment.fit->declared().find("", input.component);
  const std::vector<std::string> classes = known ? known->classes : std::vector<std::string>();
  const auto found = std::find(classes.begin(), classes.end(), name);
  if (found != classes.end()) return static_cast<double>(found - classes.begin());
  throw ConfigError("--input " + input.name + "=" + name + ": is no number" +
                    (classes.empty() ? "" : ", and no class of data.train" + did_you_mean(name, classes)));
}

Tensor value_of(const Experiment& experiment, const TowerInput& input, const std::string& text) {
  const ConfigNode node = parse_yaml(text, "--input " + input.name);
  std::vector<double> numbers;
  const auto add = [&](const ConfigNode& one) {
    if (!one.is_number() && !one.is_string())
      throw ConfigError("--input " + input.name + "=" + text + ": write a number, or a list of numbers");
    numbers.push_back(one.is_number() ? one.as_double() : label_of(experiment, input, one.text()));
  };
  if (node.is_list())
    for (const ConfigNode& one : node.items()) add(one);
  else
    add(node);
  Tensor value = Tensor::zeros(input.spec);
  const auto elements = static_cast<size_t>(value.elements());
  if (node.is_list() && numbers.size() != elements)
    throw ConfigError("--input " + input.name + "=" + text + ": has " + std::to_string(numbers.size()) +
                      " numbers; a sample of it is " + input.spec.str());
  visit(value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < elements; ++i)
      value.span<T>()[i] = static_cast<T>(numbers[node.is_list() ? i : 0]);
  });
  return value;
}

}  // namespace

std::map<std::string, Tensor> given_inputs(const Experiment& experiment,
                                           const std::vector<std::string>& texts) {
  std::map<std::string, Tensor> given;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) throw ConfigError("--input " + text + ": write --input NAME=VALUE");
    const std::string name = text.substr(0, equals);
    given[name] = value_of(experiment, input_of(experiment, name), text.substr(equals + 1));
  }
  return given;
}

}  // namespace tpack
