#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infer/infer_files.h"
#include "infer/mask_writer.h"
#include "infer/prediction_writer.h"
#include "predict/output_images.h"
#include "predict/predictor.h"
#include "predict/target_input.h"

namespace tpack {

/// The form of each output of a model. `labels`: class names; `target`: the targets of the model. Errors:
/// ConfigError for options that fit no output.
std::vector<WrittenOutput> output_roles(const InferOptions& options, const std::vector<std::string>& labels,
                                        const Predictor& predictor, const OutputImages& pictures,
                                        const MaskWriter& masks, const std::optional<TargetInput>& target);

/// "probability float32 [10], code float32 [16]".
std::string described_outputs(const Predictor& predictor);

}  // namespace tpack
