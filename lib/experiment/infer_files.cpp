#include "experiment/infer_files.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>

#include "core/log.h"
#include "core/text.h"
#include "experiment/file_samples.h"
#include "experiment/prediction_writer.h"
#include "predict/predict_outputs.h"
#include "predict/predictor.h"

namespace tpack {
namespace {

std::vector<PredictOutput> outputs_of(const Experiment& e) {
  if (e.config.predict.outputs.is_null()) {
    throw ConfigError(
        "the config of the model has no 'predict.outputs'; add "
        "--set 'predict={data: validation, outputs: {probability: {Softmax: LAYER}}}', with the layer of the "
        "scores, and the flow with the augmentation of a file");
  }
  Diagnostics errors;
  std::vector<PredictOutput> outputs = parse_predict_outputs(e.config.predict.outputs, errors);
  errors.throw_if_any();
  return outputs;
}

std::vector<std::string> labels_of(const InferOptions& o, const StoredModel& model) {
  if (o.labels.empty()) return model.labels();
  std::ifstream file(o.labels);
  if (!file) throw ConfigError(o.labels + ": cannot be read");
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) labels.emplace_back(trim(line));
  return labels;
}

/// Reads files in batches and predicts; errors stay with their file.
class Inference {
 public:
  Inference(StoredModel& model, const InferOptions& options)
      : options_(options),
        samples_(model.experiment()),
        labels_(labels_of(options, model)),
        predictor_(model.place(), outputs_of(model.experiment()), {samples_.input().name}),
        writer_(make_prediction_writer(writer_options())) {}

  /// The number of files that gave no result.
  int64_t run(const std::vector<std::string>& files) {
    int64_t index = 0;
    for (const std::string& file : files) {
      Prediction& p = pending_.emplace_back();
      p.file = file;
      try {
        batch_.push_back(samples_.read(file, index++));
      } catch (const DataError& error) {
        p.error = error.what();
        ++bad_;
      }
      if (static_cast<int64_t>(pending_.size()) == options_.batch) flush();
    }
    flush();
    writer_->finish();
    return bad_;
  }

 private:
  WriterOptions writer_options() const {
    WriterOptions w{options_.format, options_.output, {}, labels_, options_.top_k};
    for (const PredictOutput& output : predictor_.outputs()) w.names.push_back(output.name);
    return w;
  }

  /// No more classes may be asked for than there are; names that were given must be those of all.
  void check_classes(const Tensor& scores) const {
    if (scores.shape().rank() != 2) return;
    const int64_t classes = scores.shape()[1];
    if (options_.top_k > classes)
      throw ConfigError("--top-k " + std::to_string(options_.top_k) + ": the model has " +
                        std::to_string(classes) + " classes");
    if (options_.labels.empty() || static_cast<int64_t>(labels_.size()) == classes) return;
    throw ConfigError(options_.labels + ": has " + std::to_string(labels_.size()) + " names, the model has " +
                      std::to_string(classes) + " classes; write one name per line");
  }

  void flush() {
    std::vector<Tensor> values;
    if (!batch_.empty()) {
      values = predictor_.run({stacked()});
      check_classes(values[0]);
    }
    int64_t row = 0;
    for (Prediction& p : pending_) {
      if (p.error.empty()) {
        for (const Tensor& value : values) p.outputs.push_back(value.row(row));
        ++row;
        refuse_nan(p);
      }
      if (!p.error.empty()) log::error(p.error);
      writer_->write(p);
    }
    pending_.clear();
    batch_.clear();
  }

  /// Reports an error for a file if its scores contain NaN.
  void refuse_nan(Prediction& p) {
    const Tensor& scores = p.outputs[0];
    for (int64_t i = 0; i < scores.elements(); ++i) {
      if (!std::isnan(scores.at(i))) continue;
      p.error = p.file + ": the model gives NaN";
      p.outputs.clear();
      ++bad_;
      return;
    }
  }

  Tensor stacked() const {
    const TensorSpec& spec = batch_[0].spec();
    Tensor all(spec.dtype, spec.shape.prepend(static_cast<int64_t>(batch_.size())));
    for (size_t i = 0; i < batch_.size(); ++i) {
      std::memcpy(all.row(static_cast<int64_t>(i)).raw(), batch_[i].raw(), batch_[i].bytes());
    }
    return all;
  }

  const InferOptions& options_;
  FileSamples samples_;
  std::vector<std::string> labels_;
  Predictor predictor_;
  std::unique_ptr<PredictionWriter> writer_;
  std::vector<Prediction> pending_;  // files since the last batch, good and bad
  std::vector<Tensor> batch_;        // the samples of the good ones
  int64_t bad_ = 0;
};

}  // namespace

int64_t infer_files(StoredModel& model, const std::vector<std::string>& files, const InferOptions& options) {
  return Inference(model, options).run(files);
}

}  // namespace tpack
