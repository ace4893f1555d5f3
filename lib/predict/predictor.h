#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/program.h"
#include "backend/tower_place.h"
#include "predict/predict_outputs.h"

namespace tpack {

/// Runs a tower in inference for its outputs, a batch at a time. Inputs that the outputs do not depend on
/// (labels) need not be given. Threads: one caller, the one that runs other programs of the device.
class Predictor {
 public:
  /// `given`: the inputs that `run` will be fed, in that order. Errors: ConfigError for an output or input
  /// that the model does not have, and if an output depends on an input that is not given; ShapeError.
  Predictor(const TowerPlace& place, std::vector<PredictOutput> outputs,
            const std::vector<std::string>& given);

  const std::vector<PredictOutput>& outputs() const { return outputs_; }
  /// Values of the outputs, in their order, for tensors of the given inputs. Copies: the next call leaves
  /// them alone.
  std::vector<Tensor> run(const std::vector<Tensor>& batch);

 private:
  Graph graph(const Signature& given) const;
  Signature nominal() const;

  TowerPlace place_;
  std::vector<PredictOutput> outputs_;
  std::vector<size_t> given_;  // numbers of the tower's inputs
  Program program_;
  int64_t batches_ = 0;  // so far: each has other random draws
};

}  // namespace tpack
