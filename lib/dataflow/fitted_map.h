#pragma once

#include <string>

#include "dataflow/map.h"
#include "tensor/state.h"

namespace tpack {

/// A map that is fitted to the training data: the mean of a component, the words of texts. Before the first
/// sample is used, the map of data.train sees one pass of its input, without bad samples that `on_error`
/// skips. Maps of the same type and component in other flows use its learned values. Checkpoints store them
/// for resumed runs, `eval` and `infer`. The result of `bind` does not depend on them.
class FittedMap : public Map {
 public:
  /// The name of its component. After `bind`.
  virtual std::string component() const = 0;
  /// The next sample of the pass. Threads: one at a time. Errors: DataError.
  virtual void see(Datapoint& d) = 0;
  /// The learned values; no tensors. Errors: DataError if there were not enough samples.
  virtual State learned() const = 0;
  /// Sets the learned values, from this or another process. Before `apply`. Errors: CheckpointError.
  virtual void use(const State& learned) = 0;
};

}  // namespace tpack
