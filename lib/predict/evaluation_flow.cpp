#include "predict/evaluation_flow.h"

namespace tpack {

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

}  // namespace tpack
