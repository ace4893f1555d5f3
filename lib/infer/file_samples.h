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

/// A sample as a model is fed it, or why there is none.
struct FileSample {
  std::string name;            // the file, or its row
  std::vector<Tensor> inputs;  // one for each of FileSamples::inputs
  std::string error = {};      // empty if it went well
  std::map<std::string, std::string> columns =
      {};                                // texts of the columns that were asked for and the file has
  std::optional<ImagePlace> place = {};  // of an image, if it was asked for and the maps tell
  Tensor picture = {};                   // which has that place, if `name` is not its file
  Tensor truth = {};                     // if it was asked for
  int64_t index = 0;                     // in the file, or in the data of a flow
};

/// What samples shall have.
struct SampleRequest {
  std::vector<std::string> needed = {};  // inputs that the predictions depend on
  bool truth = false;                    // the true value
  bool full_size = false;                // images keep their size
  bool places = false;                   // how images lie in their pictures
};

/// Turns files into the samples that a model is fed: the maps of its predict flow after the source. What that
/// flow does with many samples (batches, order, repeats) does not apply.
class FileSamples {
 public:
  virtual ~FileSamples() = default;

  /// Names of the model's inputs that a sample has.
  virtual std::vector<std::string> inputs() const = 0;
  /// What a sample is: "files" or "rows".
  virtual const char* unit() const = 0;
  /// Samples get the texts of these columns; before the first `read`. Errors: ConfigError for one that is
  /// required of samples without columns.
  virtual void want(WantedColumns columns);
  /// The column that says which sample it is, if that is known before `read`; else empty.
  virtual std::string id_column() const { return {}; }
  /// Gives the samples of a file to `take`; errors of the file too. Errors: ConfigError for a wanted column.
  virtual void read(const std::string& path, const std::function<void(FileSample)>& take) = 0;
  /// Whether `read_lines` reads lines of a table, one sample each, and the first of all is its header.
  virtual bool reads_lines() const { return false; }
  virtual bool has_header_line() const { return false; }
  /// Lines of standard input after the header, of which the first one has that number.
  virtual void read_lines(const std::string& header, std::span<const std::string> lines, int64_t first,
                          const std::function<void(FileSample)>& take) {
    (void)header;
    (void)lines;
    (void)first;
    (void)take;
  }
};

/// Image files, or files that the source of the predict flow can read, such as CSV, with a sample per row.
/// `files` are tables if they are called so and the source reads tables; else they are images if the model
/// needs one, or takes one and needs no other input. Errors: ConfigError if the model can have neither, or
/// the maps do not fit.
std::unique_ptr<FileSamples> make_file_samples(const InferenceModel& model, const SampleRequest& request,
                                               const std::vector<std::string>& files);
/// Samples that need no file, called "sample 0", ...: `read` gives one. They have zeros for the first input
/// of the model, which says how many there are.
std::unique_ptr<FileSamples> make_counted_samples(const InferenceModel& model);
/// The samples of a flow of its config, one pass in the order of the data: `read` gives all of them. Errors:
/// ConfigError for an unknown flow; those of DataFlow::prepare.
std::unique_ptr<FileSamples> make_flow_samples(const InferenceModel& model, const SampleRequest& request,
                                               const std::string& flow);

}  // namespace tpack
