#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/registry.h"
#include "dataflow/data_flow.h"
#include "graph/tower_function.h"
#include "tensor/tensor.h"

namespace tpack {

/// True if the shapes are equal for some values of their unknown sizes.
bool fits(const Shape& wanted, const Shape& given);

/// The component's number for each input. Errors: ConfigError with the input's position if the datapoints
/// have no such component, or one with another type, shape or layout. Mixed labels also fit an input of class
/// numbers.
std::vector<size_t> bind_inputs(const std::vector<TowerInput>& inputs, const Spec& batches,
                                const std::string& flow_name);

/// The data of an input, and its start.
struct InputSetup {
  const DataFlow* flow = nullptr;
  std::vector<size_t> components;   // of the datapoint, for each program input
  std::vector<TensorSpec> nominal;  // specs of a full batch, for each program input
  uint64_t seed = 0;
  int64_t replica = 0;  // batches n with n mod replicas = replica
  int64_t replicas = 1;
  DataPosition position = {};
  std::optional<int64_t> passes = {};  // nothing: without end
};

/// The queue of an input whose batches are made ahead, so far.
struct InputQueue {
  StreamStats stats;
  size_t workers = 1;
  std::vector<FlowPart> parts = {};  // of the flow
  PartTimes::Totals times = {};      // of a few of its samples
};

/// Passes one batch after the other to the device. Threads: one at a time. The destructor ends all of its
/// threads.
class InputReader {
 public:
  virtual ~InputReader() = default;
  /// Moves to the next batch; false at the end. Releases the previous batch. Errors: SampleError; Stopped.
  virtual bool next(const std::stop_token& stop) = 0;
  /// The batch: tensors in the order of the program's inputs, valid until the next call of `next`.
  virtual std::span<const Tensor> tensors() const = 0;
  /// Where to continue after this batch (after those of the other replicas in the same round).
  virtual DataPosition position() const = 0;
  /// Total seconds that `next` waited for data. Threads: any, also while `next` runs.
  virtual double waited_s() const = 0;
  /// Nothing if batches are made on demand. Threads: any, also while `next` runs.
  virtual std::optional<InputQueue> queue() const { return std::nullopt; }
};

/// Transfers data from a DataFlow to the device: the `input` section. Threads: const.
class InputSource {
 public:
  static constexpr const char* kKind = "input source";
  virtual ~InputSource() = default;
  virtual std::unique_ptr<InputReader> open(const InputSetup& setup) const = 0;
  /// The largest number of batches that one reader holds. With 1, batches are made on demand, by the calling
  /// thread, as needed for data that depend on earlier steps.
  virtual int64_t batches_in_memory(const FlowSettings& settings) const {
    (void)settings;
    return 1;
  }
};

}  // namespace tpack
