#pragma once

#include <map>
#include <string>
#include <vector>

#include "dataflow/data_flow.h"

namespace tpack {

/// Checks, before any batch is read, that a flow can be used for evaluation: it has batches, its pass ends,
/// and incomplete batches are not dropped. (Stages after the batches may select among them.) Opens the data.
/// `where` is the reference to the flow. Errors: ConfigError with the fix; DataError for missing data.
void check_evaluation_flow(const DataFlow& flow, const std::string& name, const Position& where);

/// Checks that labels mean the same in all flows as in `train` (nothing to check if it is absent): in
/// components with the same name, a common class has the same label. (Different names are not a
/// contradiction: a class may be '0' here and 'zero' there; if some names are common, the others cause a
/// warning.) The flows are prepared. Errors: ConfigError at the flow.
void check_same_classes(const std::map<std::string, DataFlow>& flows);

/// The same for the labels of a flow for the evaluation of a trained model: `trained` are the names of its
/// classes, empty if it has none; `tower` is the model, may be null.
void check_same_labels(const std::vector<std::string>& trained, const TowerFunction* tower,
                       const DataFlow& flow, const std::string& name);

}  // namespace tpack
