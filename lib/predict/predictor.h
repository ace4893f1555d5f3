#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/model_handle.h"
#include "backend/program.h"
#include "predict/predict_outputs.h"

namespace tpack {

/// The spec of an output for one sample.
struct OutputForm {
  TensorSpec spec;
  OutputMeaning meaning = {};
};

/// Runs a tower in inference for its outputs, a batch at a time. Inputs that the outputs do not depend on
/// (labels) need not be given. Threads: one caller, the one that runs other programs of the device.
class Predictor {
 public:
  /// `given`: the inputs of `run`, in order. Errors: ConfigError for an output or input that the model does
  /// not have, and if an output depends on a missing input; ShapeError. `compiling`: as Program.
  Predictor(const ModelHandle& model, std::vector<PredictOutput> outputs,
            const std::vector<std::string>& given, std::shared_ptr<std::mutex> compiling = nullptr);

  const std::vector<PredictOutput>& outputs() const { return outputs_; }
  /// Of each output.
  const std::vector<OutputForm>& forms() const { return forms_; }
  /// Names of the given inputs that the outputs depend on.
  const std::vector<std::string>& needed_inputs() const { return needed_inputs_; }
  /// Values of the outputs, in their order, for tensors of the given inputs. Copies, so the next call does
  /// not change them. Random layers draw different numbers in each call.
  std::vector<Tensor> run(const std::vector<Tensor>& batch) { return run(batch, batches_++); }
  /// As above, but the random numbers are always the same for the same `number`.
  std::vector<Tensor> run(const std::vector<Tensor>& batch, int64_t number);
  /// Compiles for batches of this signature now rather than in the first `run`. The device must have its
  /// variables.
  void compile(const Signature& given) { program_.compile(given); }
  /// Compiles what `run` needs for such a batch; while another thread runs other batches.
  void prepare(std::span<const Tensor> batch) { program_.prepare(batch); }

 private:
  struct Built {
    Graph graph;
    std::vector<const Node*> inputs;      // of the tower, in its order
    std::vector<OutputMeaning> meanings;  // of the outputs
  };
  Built build(const Signature& given) const;
  Graph graph(const Signature& given) const;
  Signature nominal(int64_t samples) const;

  ModelHandle model_;
  std::vector<PredictOutput> outputs_;
  std::vector<OutputForm> forms_;
  std::vector<std::string> needed_inputs_;
  std::vector<size_t> given_;  // numbers of the tower's inputs
  Program program_;
  int64_t batches_ = 0;  // so far, of those without a number
};

}  // namespace tpack
