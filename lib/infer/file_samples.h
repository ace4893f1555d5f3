#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infer/image_place.h"
#include "infer/wanted_columns.h"
#include "learner/inference_model.h"

namespace tpack {

/// A sample for a model, or the error.
struct FileSample {
  std::string name;                                 // the file, or its row
  std::vector<Tensor> inputs;                       // one for each of FileSamples::inputs
  std::string error = {};                           // empty without an error
  std::map<std::string, std::string> columns = {};  // texts of the requested columns that the file has
  std::optional<ImagePlace> place = {};             // of an image, if requested and known from the maps
  Tensor picture = {};                              // the picture with that place, if `name` is not its file
  Tensor truth = {};                                // if requested
  int64_t index = 0;                                // in the file, or in the data of a flow
};

/// Requirements for samples.
struct SampleRequest {
  std::vector<std::string> needed = {};  // inputs needed for the predictions
  bool truth = false;                    // the true value
  bool full_size = false;                // images keep their size
  bool places = false;                   // also return the place of images in their pictures
};

/// Turns files into samples for a model, with the maps of its predict flow. Stages of that flow for several
/// samples (batches, order, repeats) do not apply.
class FileSamples {
 public:
  virtual ~FileSamples() = default;

  /// Names of the model's inputs in a sample.
  virtual std::vector<std::string> inputs() const = 0;
  /// The unit of samples: "files" or "rows".
  virtual const char* unit() const = 0;
  /// Adds the texts of these columns to samples; call before the first `read`. Errors: ConfigError for a
  /// required column if samples have no columns.
  virtual void want(WantedColumns columns);
  /// The column that identifies samples, if known before `read`; else empty.
  virtual std::string id_column() const { return {}; }
  /// Passes the samples of a file, and its errors, to `take`. Errors: ConfigError for a requested column.
  virtual void read(const std::string& path, const std::function<void(FileSample)>& take) = 0;
  /// Whether `read_lines` reads lines of a table, one sample each, after a header.
  virtual bool reads_lines() const { return false; }
  virtual bool has_header_line() const { return false; }
  /// Lines of standard input after the header; `first` is the number of the first one.
  virtual void read_lines(const std::string& header, std::span<const std::string> lines, int64_t first,
                          const std::function<void(FileSample)>& take) {
    (void)header;
    (void)lines;
    (void)first;
    (void)take;
  }
};

/// Image files, or files that the source of the predict flow can read, such as CSV, with a sample per row.
/// `files` are tables by their names if the source reads tables; else they are images if the model needs one,
/// or takes one and needs no other input. Errors: ConfigError if neither is possible, or the maps do not fit.
std::unique_ptr<FileSamples> make_file_samples(const InferenceModel& model, const SampleRequest& request,
                                               const std::vector<std::string>& files);
/// Samples without a file, named "sample 0", ...: `read` returns one. They have zeros for the first input of
/// the model, which sets the batch size.
std::unique_ptr<FileSamples> make_counted_samples(const InferenceModel& model);
/// The samples of a flow of its config, one pass in the order of the data: `read` returns all of them.
/// Errors: ConfigError for an unknown flow; those of DataFlow::prepare.
std::unique_ptr<FileSamples> make_flow_samples(const InferenceModel& model, const SampleRequest& request,
                                               const std::string& flow);

}  // namespace tpack
