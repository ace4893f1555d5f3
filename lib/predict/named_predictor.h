#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "predict/predictor.h"

namespace tpack {

/// Checks the values that a batch, by input, has for these inputs. Errors: ShapeError for another type or
/// shape, and for inputs with different numbers of samples.
void check_batch(const std::vector<TowerInput>& inputs, const std::map<std::string, Tensor>& batch);

/// Runs a tower for batches with inputs and outputs by name. Threads: any number of calls at the same time.
/// They share the program for a number of samples; runs take turns, because each uses all threads of the
/// device, but no call waits while another one compiles for a different number of samples.
class NamedPredictor {
 public:
  /// Errors: ConfigError for an output that the model does not have.
  NamedPredictor(const ModelHandle& model, std::vector<PredictOutput> outputs)
      : model_(model), outputs_(std::move(outputs)) {}

  /// Values of the outputs for a batch, by name. `batch`: by input, [N, ...]; inputs that the outputs do not
  /// depend on are optional. Errors: ConfigError for missing or unknown inputs; ShapeError.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& batch);

 private:
  Predictor& predictor_for(const std::vector<std::string>& inputs);

  ModelHandle model_;
  std::vector<PredictOutput> outputs_;
  std::shared_ptr<std::mutex> compiling_ = std::make_shared<std::mutex>();
  std::mutex making_;                                                          // predictors_
  std::mutex running_;                                                         // programs of the device
  std::map<std::vector<std::string>, std::unique_ptr<Predictor>> predictors_;  // by the inputs that are given
};

}  // namespace tpack
