#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "infer/image_place.h"
#include "infer/wanted_columns.h"
#include "tensor/tensor.h"

namespace tpack {

/// An output, and how its values are written: as they are, unless they say more.
struct WrittenOutput {
  std::string name;
  int64_t width = 0;        // numbers of a sample
  bool is_picture = false;  // JSON lines and CSV have the path of its PNG file
  /// The classes of which it has the probabilities, whose best are named; 2 with a width of 1: the
  /// probability of the second class, as a Sigmoid of one unit computes it.
  int64_t classes = 0;
  bool is_label_set = false;  // a probability for each label: those that hold are named

  bool is_second_of_two() const { return classes == 2 && width == 1; }
};

/// What a model says of one sample: a row of each output, or why there is none.
struct Prediction {
  std::string file;                        // or the row of a file
  std::vector<Tensor> outputs;             // without a batch axis
  std::string error;                       // empty if it went well
  std::vector<std::string> pictures = {};  // of each output, the path of its file; empty if there are none
  std::map<std::string, std::string> columns = {};  // texts of the table that the sample was read from
  std::optional<ImagePlace> place = {};             // of an image in its picture
  Tensor picture = {};                              // which has the place, if `file` is not its file
  Tensor truth = {};                                // if it was asked for
  int64_t index = 0;                                // in the data
};

/// A class with its score.
struct Ranked {
  std::string label;
  double score = 0;
};
/// The classes with the largest scores, best first; numbers stand for labels that are not known. `scores`: a
/// vector. Of two classes, the second one is first if its score is at least `threshold`.
std::vector<Ranked> top_classes(const Tensor& scores, const std::vector<std::string>& labels, int count,
                                double threshold = 0.5);

/// The labels whose probability is at least `threshold`, in their order.
std::vector<std::string> labels_that_hold(const Tensor& probabilities, const std::vector<std::string>& labels,
                                          double threshold);

/// How predictions are written.
struct WriterOptions {
  std::string format = "jsonl";  // jsonl, csv, hdf5
  std::string output;            // file; empty: stdout
  std::vector<WrittenOutput>
      outputs;  // the first one of classes and the first set are named, the others are values
  std::vector<std::string> labels;  // of the classes
  int top_k = 1;
  double threshold = 0.5;
  std::vector<std::string> columns = {};       // of csv; see InferOptions
  std::vector<std::string> true_columns = {};  // of the training data, with what is predicted
  bool true_is_class = false;                  // true values are class numbers
};

/// Writes predictions in the order in which they come. Threads: one at a time.
class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  /// What the samples must have for it.
  virtual WantedColumns wanted() const { return {}; }
  virtual void write(const Prediction& prediction) = 0;
  /// What was written is visible to who reads the output. Not of formats that are written as a whole.
  virtual void flush() {}
  /// After the last one. Errors: ResourceError if the output cannot be written.
  virtual void finish() = 0;
};

/// Errors: ConfigError for hdf5 without a file, and for columns as AnswerColumns; ResourceError for a file
/// that cannot be opened.
std::unique_ptr<PredictionWriter> make_prediction_writer(const WriterOptions& options);

}  // namespace tpack
