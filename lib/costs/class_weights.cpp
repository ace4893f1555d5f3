#include "costs/class_weights.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kBalanced = "balanced";
constexpr const char* kEffectiveNumber = "effective_number";
constexpr const char* kWanted = "balanced, {effective_number: 0.999}, {class: weight} or a list of weights";

/// In proportion to 1 / size(samples of the class), with a mean of 1 over all samples; 1 for a class without
/// samples.
std::vector<double> by_size(const std::vector<ClassCount>& counts, size_t classes,
                            const std::function<double(double)>& size) {
  std::vector<double> weights(classes, 1);
  double all = 0;
  double sum = 0;
  for (size_t k = 0; k < std::min(classes, counts.size()); ++k) {
    const auto samples = static_cast<double>(counts[k].samples);
    if (samples == 0) continue;
    weights[k] = 1 / size(samples);
    all += samples;
    sum += samples * weights[k];
  }
  for (size_t k = 0; k < std::min(classes, counts.size()); ++k)
    if (counts[k].samples > 0) weights[k] *= all / sum;
  return weights;
}

std::vector<double> by_name(const ClassWeights& weights, const std::vector<ClassCount>& counts,
                            size_t classes) {
  std::vector<std::string> names;
  for (const ClassCount& one : counts)
    if (!one.name.empty()) names.push_back(one.name);
  std::vector<double> values(classes, 1);
  for (const auto& [name, weight] : weights.by_name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw ConfigError(weights.position, "'class_weights': data.train has no class '" + name + "'" +
                                              did_you_mean(name, names) +
                                              (names.empty() ? "; its classes have no names: write a list"
                                                             : "; the classes are " + join_first(names)));
    const auto k = static_cast<size_t>(found - names.begin());
    if (k < classes) values[k] = weight;
  }
  return values;
}

/// Distinguishes variables of the same labels with different settings.
std::string key_of(const ClassWeights& weights) {
  if (weights.balanced) return kBalanced;
  std::array<char, 16> hex{};
  const uint64_t hash = stable_hash(to_json(Codec<ClassWeights>::dump(weights)));
  const auto end = std::to_chars(hex.begin(), hex.end(), hash, 16).ptr;
  return {hex.begin(), end};
}

}  // namespace

FieldType Codec<ClassWeights>::type() {
  FieldType type =
      FieldType::either({FieldType::text(), FieldType::map_of(FieldType::number(), "weights by class"),
                         FieldType::list_of(FieldType::number())},
                        kWanted);
  type.nullable = true;
  return type;
}

std::optional<ClassWeights> Codec<ClassWeights>::parse(const ConfigNode& node, Reader& reader) {
  ClassWeights weights{.position = node.position()};
  if (node.is_null()) return weights;
  const auto number = [&](const ConfigNode& value) {
    const bool good = value.is_number() && value.as_double() >= 0 && std::isfinite(value.as_double());
    if (!good) reader.wrong_type(value, "a weight of at least 0");
    return good ? value.as_double() : 0;
  };
  const size_t before = reader.errors().count();
  if (node.is_string() && node.text() == kBalanced) {
    weights.balanced = true;
  } else if (const ConfigNode* beta = node.is_map() ? node.find(kEffectiveNumber) : nullptr) {
    const bool is_good =
        beta->is_number() && beta->as_double() > 0 && beta->as_double() < 1 && node.size() == 1;
    if (is_good)
      weights.effective_number = beta->as_double();
    else
      reader.wrong_type(*beta, "a beta above 0 and below 1, such as 0.999, without weights of classes");
  } else if (node.is_map() && node.size() > 0) {
    for (const auto& [name, value, position] : node.entries())
      weights.by_name.emplace_back(name, number(value));
  } else if (node.is_list() && node.size() > 0) {
    for (const ConfigNode& value : node.items()) weights.list.push_back(number(value));
  } else {
    reader.wrong_type(node, kWanted);
  }
  return reader.errors().count() == before ? std::optional(weights) : std::nullopt;
}

ConfigNode Codec<ClassWeights>::dump(const ClassWeights& weights) {
  if (weights.balanced) return kBalanced;
  if (weights.effective_number) return ConfigNode::map({{kEffectiveNumber, *weights.effective_number}});
  if (!weights.list.empty()) return Codec<std::vector<double>>::dump(weights.list);
  if (weights.by_name.empty()) return {};
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [name, weight] : weights.by_name) entries.push_back({name, weight});
  return ConfigNode::map(std::move(entries));
}

Symbol class_weights(const ModelView& model, const ClassWeights& weights, const Ref<LayerOutput>& labels,
                     int64_t classes) {
  Builder& b = model.builder();
  if (!weights.list.empty()) {
    if (std::ssize(weights.list) != classes)
      throw ConfigError(weights.position, "'class_weights' has " + std::to_string(weights.list.size()) +
                                              " weights for " + std::to_string(classes) + " classes");
    return b.constant(Tensor::of<double>({classes}, weights.list).cast(b.float_type()));
  }
  if (!model.is_input(labels))
    throw ConfigError(
        weights.position,
        "'class_weights' that depend on the training data need labels that are an input of the model, but '" +
            labels.name + "' is computed; write a list of weights");
  return b.variable(
      {.name = "class_weights/" + labels.name + "/" + key_of(weights),
       .spec = {b.float_type(), Shape{classes}},
       .of_classes = ClassesOfInput{
           labels.name, weights.position, [weights](const std::vector<ClassCount>& counts, size_t elements) {
             if (!weights.balanced && !weights.effective_number) return by_name(weights, counts, elements);
             return by_size(counts, elements, [&](double samples) {
               return weights.balanced ? samples : 1 - std::pow(*weights.effective_number, samples);
             });
           }}});
}

}  // namespace tpack
