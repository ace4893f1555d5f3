#pragma once

#include <string>

#include "dataflow/map.h"
#include "tensor/state.h"

namespace tpack {

/// A map that is fitted to the training data: the mean of a component, the words of texts. Before the first
/// sample is used, the map of data.train sees one pass as it reaches the map, without the bad samples that
/// `on_error` leaves out. The maps of the same type and component in other flows use what it learned.
/// Checkpoints keep it for resumed runs, `eval` and `infer`. What `bind` returns does not depend on it.
class FittedMap : public Map {
 public:
  /// The name of the component that it is of. After `bind`.
  virtual std::string component() const = 0;
  /// The next sample of the pass. Threads: one at a time. Errors: DataError.
  virtual void see(Datapoint& d) = 0;
  /// What it learned of them; no tensors. Errors: DataError if they do not suffice.
  virtual State learned() const = 0;
  /// What was learned, here or in another process. Before `apply`. Errors: CheckpointError.
  virtual void use(const State& learned) = 0;
};

}  // namespace tpack
