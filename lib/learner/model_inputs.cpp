#include "learner/model_inputs.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

bool has_shape(const ConfigNode& input) {
  return !input.is_null() && (!input.is_map() || input.find("shape") != nullptr);
}

/// {shape, dtype} of one sample.
ConfigNode input_of(const std::string& name, const ComponentSpec& of, bool is_batched,
                    const Position& where) {
  std::vector<ConfigNode> sizes;
  const TensorSpec component = of.declared();
  const auto& all = component.shape.sizes();
  const bool has_batch = is_batched && !of.is_mixed_label;
  for (auto size = all.begin() + (has_batch ? 1 : 0); size != all.end(); ++size) {
    if (*size == Shape::kUnknown)
      throw ConfigError(
          where, "input " + name + ": 'shape' is missing, and samples of the data have different shapes: " +
                     component.str() + "; make them equal (a Resize in the flow), or write the shape");
    sizes.emplace_back(*size);
  }
  return ConfigNode::map({{"shape", ConfigNode::list(std::move(sizes), where)},
                          {"dtype", ConfigNode::string(name_of(component.dtype), where)}},
                         where);
}

}  // namespace

bool leaves_inputs_to_data(const ConfigNode& model) {
  if (!model.is_map()) return false;
  const ConfigNode* inputs = model.find("inputs");
  if (inputs == nullptr || inputs->is_null()) return true;
  return inputs->is_map() && std::any_of(inputs->entries().begin(), inputs->entries().end(),
                                         [](const auto& entry) { return !has_shape(entry.value); });
}

ConfigNode with_inputs_of(const ConfigNode& model, const DataFlow& flow) {
  flow.prepare();
  const Spec& spec = flow.spec();
  const bool is_batched = flow.batch_size().has_value();
  const ConfigNode* inputs = model.find("inputs");
  const ConfigNode* feed = model.find("feed");
  std::vector<ConfigNode::Entry> all;
  if (inputs == nullptr || inputs->is_null()) {
    for (const ComponentSpec& component : spec)
      all.push_back({component.name, input_of(component.name, component, is_batched, model.position()),
                     model.position()});
    return model.with("inputs", ConfigNode::map(std::move(all), model.position()));
  }
  for (const auto& [name, input, position] : inputs->entries()) {
    if (has_shape(input)) {
      all.push_back({name, input, position});
      continue;
    }
    const ConfigNode* fed = feed != nullptr && feed->is_map() ? feed->find(name) : nullptr;
    const std::string component = fed != nullptr && fed->is_string() ? fed->text() : name;
    const auto at = spec.find(component);
    if (!at) {
      std::vector<std::string> known;
      for (const ComponentSpec& one : spec) known.push_back(one.name);
      throw ConfigError(position, "input " + name + ": 'shape' is missing, and the data have no component '" +
                                      component + "'" + did_you_mean(component, known) + "; they have " +
                                      spec.str());
    }
    ConfigNode filled = input_of(name, spec[*at], is_batched, position);
    if (input.is_map())
      for (const auto& [key, value, where] : input.entries()) filled = filled.with(key, value);
    all.push_back({name, std::move(filled), position});
  }
  return model.with("inputs", ConfigNode::map(std::move(all), inputs->position()));
}

}  // namespace tpack
