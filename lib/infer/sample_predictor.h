#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "infer/file_list.h"
#include "infer/file_samples.h"
#include "infer/infer_files.h"
#include "learner/inference_model.h"
#include "predict/predictor.h"

namespace tpack {

/// A model with its reader of samples, for `infer`. Threads: one at a time.
class SamplePredictor {
 public:
  /// `files`: the names, to distinguish images and tables. Errors: ConfigError if the options or the files do
  /// not fit the model; DataError without files.
  SamplePredictor(const InferenceModel& model, const InferOptions& options, FileList& files);

  Predictor& predictor() { return *predictor_; }
  FileSamples& samples() { return *samples_; }

  /// The inputs of a sample that was read, in the order of the predictor.
  std::vector<Tensor> with_given(std::vector<Tensor> inputs) const;
  /// The outputs of samples, [N, ...]; with `flips`, averaged with those of the mirrored images.
  std::vector<Tensor> run(const std::vector<std::vector<Tensor>>& samples);
  /// mean <- mean + (more - mean) / (count + 1), for floats.
  static void add_to_mean(std::vector<Tensor>& mean, const std::vector<Tensor>& more, size_t count);
  /// Errors: ConfigError for an output without a mean, which `option` needs.
  void check_means(const std::string& option) const;

 private:
  std::vector<std::string> needed_inputs(const InferenceModel& model) const;
  std::unique_ptr<FileSamples> samples_of(const InferenceModel& model, const InferOptions& options,
                                          FileList& list);
  std::vector<std::string> input_names() const;
  const TowerInput* image_input(size_t number) const;
  void check_flips() const;
  std::vector<Tensor> flipped(const std::vector<Tensor>& batch) const;

  const std::vector<TowerInput>& inputs_;
  const InferenceModel& model_;
  bool flips_;
  bool full_size_;
  std::map<std::string, Tensor> given_;
  std::unique_ptr<FileSamples> samples_;
  std::unique_ptr<Predictor> predictor_;
  Signature last_;  // with full_size, the specs of the last run
};

}  // namespace tpack
