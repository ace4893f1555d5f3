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

/// An output, and the form of its values: as they are, unless they say more.
struct WrittenOutput {
  std::string name;
  int64_t width = 0;        // numbers of a sample
  bool is_picture = false;  // JSON lines and CSV contain the path of its PNG file
  /// Probabilities of that many classes: the best ones by name; 2 with a width of 1: the probability of the
  /// second of two classes, from a Sigmoid of one unit.
  int64_t classes = 0;
  bool is_label_set = false;  // a probability for each label: the predicted ones by name

  bool is_second_of_two() const { return classes == 2 && width == 1; }
};

/// The prediction for one sample: a row of each output, or the error.
struct Prediction {
  std::string file;                        // or the row of a file
  std::vector<Tensor> outputs;             // without a batch axis
  std::string error;                       // empty without an error
  std::vector<std::string> pictures = {};  // of each output, the path of its file; empty if there are none
  std::map<std::string, std::string> columns = {};  // texts of the sample's table
  std::optional<ImagePlace> place = {};             // place of the image in its picture
  Tensor picture = {};                              // the picture with the place, if `file` is not its file
  Tensor truth = {};                                // if requested
  int64_t index = 0;                                // in the data
};

/// A class with its score.
struct Ranked {
  std::string label;
  double score = 0;
};
/// The classes with the largest scores, best first; unknown labels are numbers. `scores`: a vector. With two
/// classes, the second one is first if its score is at least `threshold`.
std::vector<Ranked> top_classes(const Tensor& scores, const std::vector<std::string>& labels, int count,
                                double threshold = 0.5);

/// The labels with a probability of at least `threshold`, in order.
std::vector<std::string> labels_that_hold(const Tensor& probabilities, const std::vector<std::string>& labels,
                                          double threshold);

/// Options for writing predictions.
struct WriterOptions {
  std::string format = "jsonl";  // jsonl, csv, hdf5
  std::string output;            // file; empty: stdout
  std::vector<WrittenOutput>
      outputs;  // the first output of classes and the first set are written by name, others as values
  std::vector<std::string> labels;  // of the classes
  int top_k = 1;
  double threshold = 0.5;
  std::vector<std::string> columns = {};       // columns of csv; see InferOptions
  std::vector<std::string> true_columns = {};  // target columns of the training data
  bool true_is_class = false;                  // true values are class numbers
};

/// Writes predictions in order of arrival. Threads: one at a time.
class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  /// The required columns of samples.
  virtual WantedColumns wanted() const { return {}; }
  virtual void write(const Prediction& prediction) = 0;
  /// Makes written predictions visible to readers of the output. Not for formats that are written at the end.
  virtual void flush() {}
  /// Call after the last one. Errors: ResourceError if the output cannot be written.
  virtual void finish() = 0;
};

/// Errors: ConfigError for hdf5 without a file, and as for AnswerColumns; ResourceError for a file that
/// cannot be opened.
std::unique_ptr<PredictionWriter> make_prediction_writer(const WriterOptions& options);

}  // namespace tpack
