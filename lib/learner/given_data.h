#pragma once

#include <string>

#include "learner/inference_model.h"

namespace tpack {

/// A flow of the model's config as its data are evaluated. It follows the model's fit and is not opened.
/// `path`: another file or folder of the kind that its source reads, labels included, of which a last batch
/// may be smaller; empty: the data of the flow. `on_error`: as the key of a flow; empty: what the flow says.
/// Errors: ConfigError if the source has no such kind.
DataFlow flow_to_evaluate(const InferenceModel& model, const std::string& flow, const std::string& path,
                          const std::string& on_error);

}  // namespace tpack
