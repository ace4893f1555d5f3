#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learner/inference_model.h"

namespace tpack {

/// How files are run through a model and what is written.
struct InferOptions {
  std::string format = "jsonl";  // jsonl, csv, hdf5
  std::string output;            // a file; empty: standard output
  std::string labels;      // a file with the names of the classes, one per line; empty: the checkpoint's
  int top_k = 1;           // classes that are named; hdf5 has the scores of all
  double threshold = 0.5;  // probability from which a label of a set, the second of two classes, or a mask of
                           // one class holds
  std::string images;      // folder for outputs that are images or masks; empty: they are values
  bool overlays = false;   // also the image under each mask
  bool contours = false;   // also the outlines of the areas of each mask
  int64_t batch = 64;      // samples that run together
  std::vector<std::string> columns = {};  // of csv, as AnswerColumns takes them; empty: the usual ones
  bool all_columns = false;  // of csv: index, file, id and true, as far as known, and all that is predicted
  std::vector<std::string> inputs = {};  // "NAME=VALUE": inputs that are the same for all samples
  std::optional<int64_t> count = {};     // of samples without files
  std::string data = {};                 // flow of the config whose samples are read, in place of files
  /// Each image in its own size, without what changes it in the flow; for networks that take any.
  bool full_size = false;
  bool flips = false;  // means with the predictions of the images flipped left to right
};

/// How many samples there were.
struct InferCounts {
  int64_t all = 0;
  int64_t bad = 0;             // gave no prediction
  const char* unit = "files";  // or "rows"
};

/// Runs the files that `words` mean (FileList; or as many samples as asked for) through the model as its
/// config's `predict` section says and writes the predictions. An error stays with its sample: it is logged
/// and written instead of the prediction. Predictions are written when a batch is full, and before standard
/// input is waited for. Its lines are paths, or rows for a model of tables. Errors: ConfigError if the config
/// does not say what to predict, or the options do not fit the model; ResourceError if the output cannot be
/// written.
InferCounts infer_files(const InferenceModel& model, const std::vector<std::string>& words,
                        const InferOptions& options);
/// The means of what several models predict, each of which reads the samples as its own config says; the
/// first one names them. Errors: also if their outputs differ, or have no mean.
InferCounts infer_files(const std::vector<const InferenceModel*>& models,
                        const std::vector<std::string>& words, const InferOptions& options);

}  // namespace tpack
