#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataflow/map.h"
#include "experiment/experiment.h"

namespace tpack {

/// The files that words of a command line mean, in their order: a file; a folder (its images, sorted, folders
/// in it too); `@FILE` (a list, one path per line); `-` (the same from stdin). Errors: DataError for a list
/// or folder that is not there.
std::vector<std::string> listed_files(const std::vector<std::string>& words);

/// Turns image files into the samples that a model is fed: the maps of its predict flow after the source.
/// What those flows do with many samples (batches, order, repeats) does not apply to single files.
class FileSamples {
 public:
  /// Errors: ConfigError if the model takes no image, or its maps do not fit single images.
  explicit FileSamples(const Experiment& experiment);

  /// Name and spec of the input that the samples are for.
  const TowerInput& input() const { return *input_; }
  /// Reads one file. Errors: DataError.
  Tensor read(const std::string& path, int64_t index) const;

 private:
  void add_maps(const ConfigNode& flow, const FlowMap& flows);
  void require_what_the_model_takes(const ConfigNode& flow) const;

  const TowerInput* input_ = nullptr;
  Color color_ = Color::kRgb;
  Spec given_;                                                   // of a sample before the maps
  Spec spec_;                                                    // behind them
  std::vector<std::pair<uint64_t, std::shared_ptr<Map>>> maps_;  // key of the random numbers, and the map
};

}  // namespace tpack
