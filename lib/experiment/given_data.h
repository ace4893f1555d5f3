#pragma once

#include <string>

#include "experiment/inference_model.h"

namespace tpack {

/// A flow of the model's config that reads another file or folder of the kind that its source reads, labels
/// included; a last batch may be smaller. It follows the model's fit and is not opened. Errors: ConfigError
/// if the source has no such kind.
DataFlow flow_of_file(const InferenceModel& model, const std::string& flow, const std::string& path);

}  // namespace tpack
