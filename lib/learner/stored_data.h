#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "dataflow/data_flow.h"
#include "dataflow/fitted_data.h"
#include "graph/tower_function.h"

namespace tpack {

/// The class names of the labels that a model learns, for a checkpoint; empty if there are none.
std::string labels_json(const TowerFunction* tower, const DataFlow& flow);
/// The learned values of data.train for all data of the model, for a checkpoint.
std::string fitted_json(const FittedData& fitted);
/// Nothing if a checkpoint does not have them. Errors: CheckpointError.
std::optional<FittedData> stored_fit(const CheckpointContent& content, const std::string& path);
/// The names in a checkpoint; empty if it has none. Errors: CheckpointError.
std::vector<std::string> stored_labels(const CheckpointContent& content, const std::string& path);

}  // namespace tpack
