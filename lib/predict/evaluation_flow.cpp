#include "predict/evaluation_flow.h"

#include <algorithm>

#include "core/text.h"
#include "dataflow/map_effects.h"
#include "predict/class_counts.h"
#include "system/log.h"

namespace tpack {

namespace {

void warn_of_random_map(const DataFlow& flow, const std::string& name) {
  if (const auto map = random_map(flow))
    log::warning(*map + " of data." + name +
                 " draws random numbers, so its statistics are for changed samples; `infer` draws nothing; "
                 "use random maps only in data.train");
}

}  // namespace

void check_evaluation_flow(const DataFlow& flow, const std::string& name, const Position& where) {
  if (!flow.batching()) {
    throw ConfigError(
        where, "flow '" + name +
                   "' produces single samples; end it with BatchData: {batch_size: ..., remainder: true}");
  }
  flow.prepare();
  if (flow.size() == kEndless) {
    throw ConfigError(where,
                      "flow '" + name +
                          "' never ends, but an evaluation needs one complete pass; remove stages that "
                          "repeat the data, or put FixedSizeData: {size: ...} before its BatchData");
  }
  if (const std::string why = flow.flow()->repeats(); !why.empty())
    throw ConfigError(where, "flow '" + name + "': " + why +
                                 ", but an evaluation needs each sample once, else its statistics count some "
                                 "samples more than others; remove that stage from this flow");
  warn_of_random_map(flow, name);
  const Batching batches = *flow.batching();  // now that the sizes are known
  if (batches.keeps_remainder) return;
  if (!batches.samples) {
    throw ConfigError(where, "flow '" + name +
                                 "' may drop samples of its last batch, because their number is unknown "
                                 "before reading; set remainder: true in its BatchData");
  }
  const int64_t dropped = *batches.samples % batches.batch_size;
  if (dropped == 0) return;
  throw ConfigError(where, "flow '" + name + "' drops " + std::to_string(dropped) + " of " +
                               std::to_string(*batches.samples) + " samples, because batches of " +
                               std::to_string(batches.batch_size) +
                               " leave a remainder; set remainder: true in its BatchData");
}

namespace {

/// The names of one list that the other does not have, in quotes.
std::vector<std::string> missing_in(const std::vector<std::string>& known,
                                    const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) missing.push_back("'" + name + "'");
  }
  return missing;
}

void warn_of_other_classes(const std::vector<std::string>& trained, const std::vector<std::string>& classes,
                           const std::string& flow, const std::string& trainer) {
  const std::vector<std::string> unknown = missing_in(trained, classes);
  const std::vector<std::string> missing = missing_in(classes, trained);
  if (unknown.size() == classes.size()) {
    log::warning("flow '" + flow + "' has none of the classes of " + trainer + ", but " +
                 join_first(unknown));
    return;
  }
  if (!unknown.empty())
    log::warning("flow '" + flow + "' has classes that " + trainer +
                 " does not have: " + join_first(unknown));
  if (!missing.empty())
    log::warning("flow '" + flow + "' does not have these classes of " + trainer + ": " +
                 join_first(missing));
}

/// Errors: ConfigError if a common name has different labels.
void compare_classes(const std::vector<std::string>& trained, const std::string& trainer,
                     const ComponentSpec& component, const std::string& name, const Position& where) {
  if (trained.empty() || component.classes.empty() || trained == component.classes) return;
  warn_of_other_classes(trained, component.classes, name, trainer);
  for (size_t label = 0; label < component.classes.size(); ++label) {
    const std::string& class_name = component.classes[label];
    const auto found = std::find(trained.begin(), trained.end(), class_name);
    const auto there = static_cast<size_t>(found - trained.begin());
    if (found == trained.end() || there == label) continue;
    throw ConfigError(where,
                      "flow '" + name + "' has different classes than " + trainer + ": '" + class_name +
                          "' is label " + std::to_string(label) + " of component '" + component.name +
                          "' there and label " + std::to_string(there) + " in " + trainer +
                          "; use data with the same classes, or list all of them (`classes` of a CSV)");
  }
}

}  // namespace

void check_same_classes(const std::map<std::string, DataFlow>& flows) {
  const auto train = flows.find("train");
  if (train == flows.end()) return;
  const Spec& trained = train->second.spec();
  for (const auto& [name, flow] : flows) {
    for (const ComponentSpec& component : flow.spec()) {
      if (const auto at = trained.find(component.name))
        compare_classes(trained[*at].classes, "data.train", component, name, flow.origin());
    }
  }
}

void check_same_labels(const std::vector<std::string>& trained, const TowerFunction* tower,
                       const DataFlow& flow, const std::string& name) {
  if (const ComponentSpec* labels = label_component(tower, flow))
    compare_classes(trained, "the checkpoint", *labels, name, {});
}

}  // namespace tpack
