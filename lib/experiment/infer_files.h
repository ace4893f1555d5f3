#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/stored_model.h"

namespace tpack {

/// How files are run through a model and what is written.
struct InferOptions {
  std::string format = "jsonl";  // jsonl, csv, hdf5
  std::string output;            // a file; empty: standard output
  std::string labels;  // a file with the names of the classes, one per line; empty: the checkpoint's
  int top_k = 1;       // classes that are named; hdf5 has the scores of all
  int64_t batch = 64;  // files that run together
};

/// Runs image files through the model as its config's `predict` section says and writes the predictions. An
/// error stays with its file: it is logged and written instead of the prediction. Returns how many files
/// gave no prediction. Errors: ConfigError if the config does not say what to predict, or the options do
/// not fit the model; ResourceError if the output cannot be written.
int64_t infer_files(StoredModel& model, const std::vector<std::string>& files, const InferOptions& options);

}  // namespace tpack
