#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// What a model says of one file: a row of each output, or why there is none.
struct Prediction {
  std::string file;
  std::vector<Tensor> outputs;  // without a batch axis
  std::string error;            // empty if it went well
};

/// A class with its score.
struct Ranked {
  std::string label;
  double score = 0;
};
/// The classes with the largest scores, best first; numbers stand for labels that are not known. `scores`: a
/// vector.
std::vector<Ranked> top_classes(const Tensor& scores, const std::vector<std::string>& labels, int count);

/// How predictions are written.
struct WriterOptions {
  std::string format = "jsonl";     // jsonl, csv, hdf5
  std::string output;               // file; empty: stdout
  std::vector<std::string> names;   // of the outputs
  std::vector<std::string> labels;  // of the classes
  int top_k = 1;
};

/// Writes predictions in the order in which they come. Threads: one at a time.
class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  virtual void write(const Prediction& prediction) = 0;
  /// After the last one. Errors: ResourceError if the output cannot be written.
  virtual void finish() = 0;
};

/// Errors: ConfigError for hdf5 without a file; ResourceError for a file that cannot be opened.
std::unique_ptr<PredictionWriter> make_prediction_writer(const WriterOptions& options);

}  // namespace tpack
