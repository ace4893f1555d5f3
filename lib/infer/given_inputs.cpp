#include "infer/given_inputs.h"

#include <algorithm>

#include "config/yaml_reader.h"
#include "core/text.h"

namespace tpack {
namespace {

const TowerInput& input_of(const InferenceModel& model, const std::string& name) {
  std::vector<std::string> known;
  for (const TowerInput& input : model.tower().inputs()) {
    if (input.name == name) return input;
    known.push_back(input.name);
  }
  throw ConfigError("--input: the model has no input '" + name + "'" + did_you_mean(name, known) +
                    "; it has " + join(known, ", "));
}

/// The classes of a component of data.train; empty if it has none.
std::vector<std::string> classes_of(const InferenceModel& model, const TowerInput& input) {
  const auto known = model.fit()->declared().find("", input.component);
  return known ? known->classes : std::vector<std::string>();
}

bool is_number(const std::string& text) { return ConfigNode::plain(text, {}).is_number(); }

/// A number, or, if there are classes, a class by its name, or by its number if no name is a number. Errors:
/// ConfigError.
double number_of(const std::vector<std::string>& classes, const ConfigNode& node, const std::string& who) {
  const auto found = std::find(classes.begin(), classes.end(), node.text());
  if (found != classes.end()) return static_cast<double>(found - classes.begin());
  const bool is_label = node.kind() == ConfigNode::Kind::kInt && node.as_int() >= 0 &&
                        node.as_int() < std::ssize(classes) &&
                        std::none_of(classes.begin(), classes.end(), is_number);
  if (!classes.empty() && !is_label)
    throw ConfigError(who + ": is not a class of data.train" + did_you_mean(node.text(), classes) +
                      "; data.train has " + join_first(classes));
  if (!node.is_number()) throw ConfigError(who + ": is not a number");
  return node.as_double();
}

Tensor value_of(const InferenceModel& model, const TowerInput& input, const std::string& text) {
  const ConfigNode node = parse_yaml(text, "--input " + input.name);
  const std::string who = "--input " + input.name + "=" + text;
  const std::vector<std::string> classes = classes_of(model, input);
  std::vector<double> numbers;
  const auto add = [&](const ConfigNode& one) {
    if (!one.is_number() && !one.is_string())
      throw ConfigError(who + ": write a number, or a list of numbers");
    numbers.push_back(number_of(classes, one, who));
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

std::map<std::string, Tensor> given_inputs(const InferenceModel& model,
                                           const std::vector<std::string>& texts) {
  std::map<std::string, Tensor> given;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) throw ConfigError("--input " + text + ": write --input NAME=VALUE");
    const std::string name = text.substr(0, equals);
    given[name] = value_of(model, input_of(model, name), text.substr(equals + 1));
  }
  return given;
}

}  // namespace tpack
