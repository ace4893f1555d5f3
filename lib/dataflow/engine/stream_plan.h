#pragma once

#include <vector>

#include "dataflow/batched_flow.h"
#include "dataflow/guarded_flow.h"
#include "dataflow/map.h"
#include "dataflow/stage.h"

namespace tpack {

/// A flow split into parts for the engine: samples -> [sample maps] -> batches -> [batch maps]. Borrows the
/// parts of the flow.
struct StreamPlan {
  /// True: rows of batches are made by place, in any order, by any worker. False: samples are taken one after
  /// the other (or by place, if some places may turn out to be empty) and collected in order.
  bool by_place = false;
  const Flow* samples = nullptr;
  const GuardedFlow* guard = nullptr;                 // policy of sample_maps
  std::vector<const MapFlow*> sample_maps = {};       // maps that workers run after a sequential flow
  const BatchedFlow* batched = nullptr;               // null: the items are those of `samples`
  std::vector<const RemappedFlow*> batch_order = {};  // outermost first; by_place only
  std::vector<const MapFlow*> batch_maps = {};        // in the order of the list

  /// Samples in the rows of a slot; 0 if items are single samples.
  int64_t batch_size() const { return batched == nullptr ? 0 : batched->batch_size(); }
  /// True if the batch of an item is known only after reading: a map may drop some, or batches have groups.
  bool drops() const;
  /// The batch of `batched` at `place` of the flow.
  Place locate(const PassKey& pass, int64_t place) const;
};

StreamPlan plan_stream(const Flow& flow);

}  // namespace tpack
