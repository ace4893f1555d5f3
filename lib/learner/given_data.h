#pragma once

#include <string>

#include "learner/inference_model.h"

namespace tpack {

/// A flow of the model's config for evaluation. It uses the model's learned values and is not opened. `path`:
/// another file or folder of the kind that its source reads, with labels, where the last batch may be
/// smaller; empty: the data of the flow. `on_error`: as the key of a flow; empty: the setting of the flow.
/// Errors: ConfigError if the source cannot read such a path.
DataFlow flow_to_evaluate(const InferenceModel& model, const std::string& flow, const std::string& path,
                          const std::string& on_error);

}  // namespace tpack
