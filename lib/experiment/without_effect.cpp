#include "experiment/without_effect.h"

#include <algorithm>
#include <set>

#include "core/text.h"
#include "graph/tower_description.h"
#include "graph/variable_pattern.h"
#include "model/layer.h"
#include "predict/predict_outputs.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr size_t kMaxNamed = 6;

/// "layer a", "layers a, b, c and 4 more".
std::string named(const std::string& what, const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMaxNamed);
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
  const size_t more = names.size() - shown;
  return what + (names.size() == 1 ? " " : "s ") + join(first, ", ") +
         (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

/// The strings of a section of the config that may be names of outputs; under the key `outputs` they may be
/// patterns.
void add_texts(const ConfigNode& node, bool of_outputs, std::vector<std::string>& names,
               std::vector<std::string>& patterns) {
  if (node.is_string()) (of_outputs ? patterns : names).push_back(node.text());
  if (node.is_list())
    for (const ConfigNode& item : node.items()) add_texts(item, of_outputs, names, patterns);
  if (!node.is_map()) return;
  for (const ConfigNode::Entry& entry : node.entries())
    add_texts(entry.value, entry.key == "outputs", names, patterns);
}

/// The model in training, and its used parts.
class Usage {
 public:
  explicit Usage(const Experiment& e)
      : e_(e),
        tower_(*e.trainer->part<TrainedModel>().model_handle()->tower),
        model_(tower_.description(
            {Phase::kTraining, e.config.engine.dtype},
            batch_specs(tower_, std::max<int64_t>(e.trainer->part<StepData>().step_size().batch, 1)))) {
    for (const auto& [name, cost] : model_.costs()) use(cost);
    for (const Fetch& statistic : model_.graph().fetches()) use(statistic.value);
    use_named_outputs();
    if (e.config.predict.outputs.is_null() && !model_.outputs().empty())
      use(model_.outputs_in_order().back().second);
    used_ = model_.graph().needed_for(values_);
    for (const auto& node : model_.graph().nodes())
      if (used_[static_cast<size_t>(node->id)]) used_places_.insert(node->origin);
  }

  /// Names of layers with an unused output, without their inner layers; in the order of the network.
  std::vector<std::pair<std::string, Position>> unused_layers() const {
    std::set<std::string> inputs;
    for (const TowerInput& input : tower_.inputs()) inputs.insert(input.name);
    std::vector<std::pair<std::string, Symbol>> unused;
    for (const auto& output : model_.outputs_in_order())
      if (!inputs.contains(output.first) && !is_used(output.second)) unused.push_back(output);
    std::vector<std::pair<std::string, Position>> outermost;
    for (const auto& [name, value] : unused) {
      const auto contains = [&inner = name](const auto& other) {
        return inner.starts_with(other.first + "/");
      };
      if (std::none_of(unused.begin(), unused.end(), contains))
        outermost.emplace_back(name, value.node->origin);
    }
    return outermost;
  }

 private:
  void use(Symbol value) { values_.push_back(value); }
  /// A layer of a network with several calls is used if one of the calls is; also if only its gradient is
  /// used, by nodes with its path.
  bool is_used(Symbol value) const {
    const Position& origin = value.node->origin;
    return used_[static_cast<size_t>(value.node->id)] || (origin.known() && used_places_.contains(origin));
  }

  /// Used by predict, callbacks and the agents of flows.
  void use_named_outputs() {
    std::vector<std::string> names;
    std::vector<std::string> patterns;
    for (const Slot<Callback>& slot : e_.config.callbacks) add_texts(slot.item, false, names, patterns);
    for (const auto& [name, flow] : e_.config.data) add_texts(flow, false, names, patterns);
    if (!e_.config.predict.outputs.is_null()) {
      Diagnostics reported;  // when predict was checked
      for (const PredictOutput& output : parse_predict_outputs(e_.config.predict.outputs, reported))
        names.push_back(output.from.name);
    }
    for (const std::string& name : names)
      if (const auto found = model_.outputs().find(name); found != model_.outputs().end()) use(found->second);
    for (const std::string& pattern : patterns) {
      for (const auto& [name, value] : model_.outputs())
        if (is_for_variable(pattern, name)) use(value);
    }
  }

  const Experiment& e_;
  const TowerFunction& tower_;
  const TowerDescription& model_;
  std::vector<Symbol> values_;  // that are used
  std::vector<bool> used_;      // by node id
  std::set<Position> used_places_;
};

/// Variables that an update trains without effect, outside of these layers.
std::vector<std::string> unreached_variables(const VariableTable& table,
                                             const std::vector<std::string>& layers) {
  std::vector<std::string> names;
  for (const ParameterGroup& group : table.groups()) {
    for (const std::string& name : group.unreached) {
      const auto is_inside = [&](const std::string& layer) { return name.starts_with(layer + "/"); };
      if (std::none_of(layers.begin(), layers.end(), is_inside)) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

void warn_of_what_has_no_effect(const Experiment& experiment) {
  const auto model = experiment.trainer->part<TrainedModel>().model_handle();
  if (!model || experiment.updates.empty()) return;
  std::vector<std::string> layers;
  Position first;
  for (const auto& [name, position] : Usage(experiment).unused_layers()) {
    if (layers.empty()) first = position;
    layers.push_back(name);
  }
  if (!layers.empty()) {
    const std::string them = layers.size() == 1 ? "it" : "them";
    log::warning(Problem{first, "nothing uses the output of " + named("layer", layers) + "; connect " + them +
                                    " with `input`, or remove " + them}
                     .str());
  }
  const std::vector<std::string> variables = unreached_variables(*model->table, layers);
  if (variables.empty()) return;
  log::warning(
      Problem{experiment.updates[0].position,
              "the cost does not depend on " + named("variable", variables) +
                  ", so training changes nothing there; connect their layers to the cost, or use `freeze`"}
          .str());
}

}  // namespace tpack
