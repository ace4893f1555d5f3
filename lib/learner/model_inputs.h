#pragma once

#include "core/config_node.h"
#include "dataflow/data_flow.h"

namespace tpack {

/// The `model` section completed from the data: without `inputs`, all components of the flow are inputs, and
/// an input without `shape` has the shape and type of its component. Opens the data if they are not known.
/// Errors: ConfigError; those of DataFlow::prepare.
ConfigNode with_inputs_of(const ConfigNode& model, const DataFlow& flow);

/// True if the section needs to be completed from the data.
bool leaves_inputs_to_data(const ConfigNode& model);

}  // namespace tpack
