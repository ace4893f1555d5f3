#include "dataflow/engine/stream_engine.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>

#include "dataflow/read_stop.h"
#include "dataflow/sample_error.h"

namespace tpack {
namespace {

void make_rows(const StreamPlan& plan, SlotRing& ring) {
  if (plan.batched == nullptr) return;
  for (BatchSlot& slot : ring.slots()) {
    if (!plan.batched->has_rows()) {
      slot.kept.resize(static_cast<size_t>(plan.batch_size()));
      continue;
    }
    for (const ComponentSpec& component : plan.batched->up().spec()) {
      slot.rows.emplace_back(component.tensor.dtype, component.tensor.shape.prepend(plan.batch_size()));
    }
  }
}

std::unique_ptr<Filler> make_filler(const StreamPlan& plan, const Flow& flow, const StreamOptions& options,
                                    SlotRing& ring, PartTimes* times) {
  make_rows(plan, ring);
  return plan.by_place ? make_place_filler(plan, flow, options, ring, times)
                       : make_order_filler(plan, options, ring, times);
}

/// False if the samples cannot be one batch; then the slot has the error.
bool join_kept(BatchSlot& slot, const BatchedFlow& batched) {
  const PartTimer timer(batched.context().name, &slot.batch);
  try {
    try {
      batched.join(std::span(slot.kept).first(static_cast<size_t>(slot.samples)), slot.batch);
    } catch (...) {
      rethrow_with_sample(batched.context().place_of(slot.batch.id()));
    }
  } catch (...) {
    slot.error = std::current_exception();
  }
  return !slot.error;
}

void take_rows(BatchSlot& slot, const BatchedFlow& batched) {
  const PartTimer timer(batched.context().name, &slot.batch);
  slot.batch.resize(slot.rows.size());
  for (size_t i = 0; i < slot.rows.size(); ++i) {
    const bool whole = slot.samples == batched.batch_size();
    slot.batch.set_tensor(i, whole ? slot.rows[i] : slot.rows[i].rows(0, slot.samples));
  }
}

}  // namespace

StreamEngine::StreamEngine(FlowPtr flow, const StreamOptions& options, std::shared_ptr<SlotRing> ring,
                           PartTimes* times)
    : flow_(std::move(flow)),
      ring_(std::move(ring)),
      plan_(plan_stream(*flow_)),
      filler_(make_filler(plan_, *flow_, options, *ring_, times)),
      workers_("tpack-data", options.workers,
               [this](size_t /*worker*/, const std::stop_token& stop) { work(stop); }) {}

void StreamEngine::work(const std::stop_token& stop) {
  // Threads that compute a step wait for each other, so one that shares its processor delays all of them.
  // Data are made while they wait for data. On Linux, the priority applies only to the thread.
  constexpr int kNicer = 10;
  [[maybe_unused]] const int now = ::nice(kNicer);
  const ReadStop of_reads(stop);
  try {
    filler_->run(stop);
  } catch (...) {  // not an error of a sample: those are in their slots
    ring_->fail(std::current_exception());
  }
}

void store_sample(Datapoint& sample, const BatchedFlow& batched, BatchSlot& slot, int64_t row) {
  const PartTimer timer(batched.context().name);
  if (!batched.has_rows()) {
    batched.decode(sample);
    std::swap(slot.kept[static_cast<size_t>(row)], sample);
    return;
  }
  batched.store(sample, slot.rows, row);
}

void finish_batch(BatchSlot& slot, const StreamPlan& plan, uint64_t seed) {
  if (slot.error) return;
  slot.batch.set_id({slot.place.pass.pass, slot.place.index, slot.place.pass.repeat});
  if (plan.batched->has_rows())
    take_rows(slot, *plan.batched);
  else if (!join_kept(slot, *plan.batched))
    return;
  try {
    for (const MapFlow* map : plan.batch_maps) map->apply(seed, slot.batch);
  } catch (...) {
    slot.error = std::current_exception();
  }
}

void ChunkSize::measured(int64_t items, double seconds) {
  const double item_s = seconds / static_cast<double>(std::max<int64_t>(items, 1));
  item_s_ = item_s_ == 0 ? item_s : 0.75 * item_s_ + 0.25 * item_s;
}

int64_t ChunkSize::next(int64_t most) const {
  constexpr double kTarget = 0.2e-3;
  if (item_s_ == 0) return 1;
  return std::clamp<int64_t>(std::llround(std::min(kTarget / item_s_, 1e6)), 1, most);
}

}  // namespace tpack
