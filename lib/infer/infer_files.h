#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learner/inference_model.h"

namespace tpack {

/// Options for prediction and output.
struct InferOptions {
  std::string format = "jsonl";  // jsonl, csv, hdf5
  std::string output;            // a file; empty: standard output
  std::string labels;            // a file with class names, one per line; empty: those of the checkpoint
  int top_k = 1;                 // number of named classes; hdf5 has the scores of all
  double threshold = 0.5;  // minimum probability for a label of a set, the second of two classes, or a mask
                           // of one class holds
  std::string images;      // folder for outputs that are images or masks; empty: they are values
  bool overlays = false;   // also the image under each mask
  bool contours = false;   // also the outlines of the areas of each mask
  int64_t batch = 64;      // samples that run together
  std::vector<std::string> columns = {};  // columns of csv, for AnswerColumns; empty: the usual ones
  bool all_columns = false;  // columns of csv: index, file, id and true, as far as known, and all predictions
  std::vector<std::string> inputs = {};  // "NAME=VALUE": inputs that are the same for all samples
  std::optional<int64_t> count = {};     // of samples without files
  std::string data = {};                 // flow of the config to read instead of files
  /// Each image in its own size, without size changes of the flow; for networks that take any size.
  bool full_size = false;
  bool flips = false;  // average with the predictions of the images flipped left to right
};

/// Numbers of samples.
struct InferCounts {
  int64_t all = 0;
  int64_t bad = 0;             // gave no prediction
  const char* unit = "files";  // or "rows"
};

/// Predicts the files of `words` (FileList; or the requested number of samples) by the `predict` section of
/// the model's config and writes the predictions. An error affects only its sample: it is logged and written
/// instead of the prediction. Predictions are written when a batch is full, and before waiting for standard
/// input, whose lines are paths, or rows for a model of tables. Errors: ConfigError if the config has no
/// outputs to predict, or the options do not fit the model; ResourceError if the output cannot be written.
InferCounts infer_files(const InferenceModel& model, const std::vector<std::string>& words,
                        const InferOptions& options);
/// Writes the mean predictions of several models, each of which reads the samples by its own config; the
/// first one defines the names. Errors: also if their outputs differ, or have no mean.
InferCounts infer_files(const std::vector<const InferenceModel*>& models,
                        const std::vector<std::string>& words, const InferOptions& options);

}  // namespace tpack
