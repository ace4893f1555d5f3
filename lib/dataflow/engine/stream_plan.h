#pragma once

#include <vector>

#include "dataflow/batched_flow.h"
#include "dataflow/guarded_flow.h"
#include "dataflow/map.h"
#include "dataflow/stage.h"

namespace tpack {

/// A flow taken apart into what the engine runs: samples -> [sample maps] -> batches -> [batch maps].
/// Borrows the parts of the flow.
struct StreamPlan {
  /// True: rows of batches are made by place, in any order, by any worker. False: samples are taken one after
  /// the other (or by place, where some may turn out to be nothing) and gathered in order.
  bool by_place = false;
  const Flow* samples = nullptr;
  const GuardedFlow* guard = nullptr;                 // policy of sample_maps
  std::vector<const MapFlow*> sample_maps = {};       // maps that workers run after a sequential flow
  const BatchedFlow* batched = nullptr;               // null: the items are what `samples` gives
  std::vector<const RemappedFlow*> batch_order = {};  // outermost first; by_place only
  std::vector<const MapFlow*> batch_maps = {};        // in the order of the list

  /// Samples on the rows of a slot; 0 for items that are single samples.
  int64_t batch_size() const { return batched == nullptr ? 0 : batched->batch_size(); }
  /// True if only reading tells how many items come out of the samples: a map may drop some.
  bool drops() const;
  /// Which batch of `batched` the flow's item at `place` is.
  Place locate(const PassKey& pass, int64_t place) const;
};

StreamPlan plan_stream(const Flow& flow);

}  // namespace tpack
