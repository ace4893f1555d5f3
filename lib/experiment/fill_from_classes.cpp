#include "experiment/fill_from_classes.h"

#include <algorithm>

#include "core/text.h"
#include "dataflow/count_classes.h"
#include "dataflow/source.h"
#include "system/log.h"

namespace tpack {
namespace {

/// The component of the data that the model reads as that input.
std::string component_of(const Experiment& experiment, const std::string& input) {
  for (const TowerInput& one : experiment.tower->inputs())
    if (one.name == input) return one.component;
  return input;
}

/// The class counts of a component of data.train.
std::vector<ClassCount> classes_in(const DataFlow& train, const std::string& component,
                                   const Position& where) {
  for (const Source* source : train.sources()) {
    const auto* indexed = dynamic_cast<const RandomAccessSource*>(source);
    if (indexed == nullptr) continue;
    const Spec spec = indexed->spec();
    const auto at = spec.find(component);
    if (!at || spec[*at].tensor != TensorSpec{DType::kInt32, {}}) continue;
    std::vector<ClassCount> counts;
    for (const auto& [name, samples] : count_classes(spec[*at].classes, indexed->class_numbers(component)))
      counts.push_back({name, samples});
    return counts;
  }
  throw ConfigError(where, "the classes of '" + component +
                               "' cannot be counted: no source of data.train has "
                               "class numbers of that name; write a list of weights");
}

}  // namespace

void fill_from_classes(const Experiment& experiment) {
  VariableStore* store = experiment.trainer->variables();
  if (store == nullptr) return;
  bool has_any = false;
  for (const VariableSpec* spec : store->table().all()) {
    if (!spec->of_classes) continue;
    const ClassesOfInput& of = *spec->of_classes;
    const DataFlow* train = experiment.train_flow();
    if (train == nullptr)
      throw ConfigError(of.position, "the classes of the training data are needed; there is no data.train");
    const std::vector<ClassCount> counts =
        classes_in(*train, component_of(experiment, of.input), of.position);
    std::vector<std::string> absent;
    for (size_t k = 0; k < counts.size(); ++k)
      if (counts[k].samples == 0)
        absent.push_back(counts[k].name.empty() ? std::to_string(k) : counts[k].name);
    if (!absent.empty()) log::warning("class_weights: data.train has no sample of " + join_first(absent));
    const auto elements = static_cast<size_t>(spec->spec.shape.elements());
    store->set(spec->name,
               Tensor::of<double>(spec->spec.shape, of.value(counts, elements)).cast(spec->spec.dtype));
    has_any = true;
  }
  if (has_any) experiment.trainer->share_variables();
}

}  // namespace tpack
