#pragma once

#include <map>
#include <string>
#include <vector>

#include "dataflow/data_flow.h"

namespace tpack {

/// Checks, before any batch is read, that a flow can be evaluated over: it has batches, one pass of it ends,
/// and no sample is left out because it fills no batch. (Stages after the batches choose among them as they
/// say.) Opens the data. `where` is what names the flow. Errors: ConfigError with the fix; DataError for data
/// that are absent.
void check_evaluation_flow(const DataFlow& flow, const std::string& name, const Position& where);

/// Checks that labels mean the same in all flows as in `train` (nothing to check if there is none): in
/// components of one name, a class that both know has the same label. (Other names are no contradiction: a
/// class may be called '0' here and 'zero' there; where some names are common to both, the others are logged
/// as a warning.) The flows are prepared. Errors: ConfigError at the flow.
void check_same_classes(const std::map<std::string, DataFlow>& flows);

/// The same for the labels of a flow that a trained model is evaluated over: `trained` are the names of its
/// classes, empty if it has none; `tower` is the model, null for none.
void check_same_labels(const std::vector<std::string>& trained, const TowerFunction* tower,
                       const DataFlow& flow, const std::string& name);

}  // namespace tpack
