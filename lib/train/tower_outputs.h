#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/model_handle.h"
#include "backend/program.h"
#include "core/field.h"
#include "train/trainer.h"

namespace tpack {

/// Outputs of a model as in a training step: in the training phase, with the random draws of the step, for
/// the batch of one tower. They use a separate program, without backward and assignments, so training
/// continues with the same bits. It runs on the first tower; statistics over several towers (sync_statistics)
/// are those of the one batch. Threads: one caller, the one that runs other programs of the device.
class TowerOutputs {
 public:
  struct Output {
    std::string name;
    TensorSpec spec;          // for a whole batch
    std::string layout = {};  // of an input: TowerInput::layout
    Position origin = {};     // of the layer or input
  };

  /// Outputs whose names match a pattern (is_for_variable), inputs first, then in the order of computation.
  /// `batch`: samples of a whole batch. Errors: ConfigError for patterns without a match.
  TowerOutputs(const ModelHandle& model, const std::vector<Ref<OutputPattern>>& patterns, int64_t batch);

  const std::vector<Output>& outputs() const { return outputs_; }
  /// For whole batches. The device must have its variables.
  void compile();
  /// Computes with the current variables.
  void compute(const TowerBatch& batch);
  /// The result of the last `compute`, on the host; an input shares the memory of the batch.
  const Tensor& value(size_t output) const;

 private:
  Graph graph(const Signature& fed) const;

  ModelHandle model_;
  Signature nominal_;
  std::vector<Output> outputs_;
  std::vector<size_t> inputs_;  // of the tower: the first of outputs_
  std::unique_ptr<Program> program_;
  std::vector<Tensor> fed_;
  const Executable* done_ = nullptr;
};

}  // namespace tpack
