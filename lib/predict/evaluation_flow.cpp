#include "predict/evaluation_flow.h"

#include <algorithm>

namespace tpack {
namespace {

std::string meaning(const std::vector<std::string>& classes, size_t label) {
  return label < classes.size() ? "'" + classes[label] + "'" : "no class";
}

}  // namespace

void check_evaluation_flow(const DataFlow& flow, const std::string& name, const Position& where) {
  if (!flow.batching()) {
    throw ConfigError(where,
                      "flow '" + name +
                          "' gives single samples; end it with BatchData: {batch_size: ..., remainder: "
                          "true}");
  }
  flow.prepare();
  if (flow.size() == kEndless) {
    throw ConfigError(where,
                      "flow '" + name +
                          "' never ends, but a figure is taken over one whole pass; leave out what "
                          "repeats the data, or put FixedSizeData: {size: ...} in front of its BatchData");
  }
  const Batching batches = *flow.batching();  // now that the sizes are known
  if (batches.keeps_remainder || !batches.samples) return;
  const int64_t dropped = *batches.samples % batches.batch_size;
  if (dropped == 0) return;
  throw ConfigError(where, "flow '" + name + "' drops " + std::to_string(dropped) + " of " +
                               std::to_string(*batches.samples) + " samples, since " +
                               std::to_string(batches.batch_size) +
                               " to a batch leave a remainder; set remainder: true in its BatchData");
}

void check_same_classes(const DataFlow& train, const DataFlow& flow, const std::string& name,
                        const Position& where) {
  for (const ComponentSpec& component : flow.spec()) {
    const auto at = train.spec().find(component.name);
    if (!at) continue;
    const std::vector<std::string>& trained = train.spec()[*at].classes;
    if (trained.empty() || component.classes.empty() || trained == component.classes) continue;
    size_t label = 0;
    while (label < std::min(trained.size(), component.classes.size()) &&
           trained[label] == component.classes[label])
      ++label;
    throw ConfigError(where, "flow '" + name + "' has other classes than data.train: label " +
                                 std::to_string(label) + " of component '" + component.name + "' is " +
                                 meaning(component.classes, label) + " there and " + meaning(trained, label) +
                                 " in data.train; use data with the same classes");
  }
}

}  // namespace tpack
