#pragma once

#include <optional>
#include <string>

#include "dataflow/data_flow.h"

// Effects of maps, found by trying them on a few samples. Flows whose samples come only once are skipped.
namespace tpack {

/// The first map of a flow that draws random numbers, with its position: "train.yaml:7:7:
/// augment_image_component_0"; nothing if there is none. Maps of flows inside a JoinData are not tried.
/// Prepares the flow.
std::optional<std::string> random_map(const DataFlow& flow);
/// The same for a prepared flow.
std::optional<std::string> random_map(const Flow& flow);

/// The difference if the maps of two flows scale the same samples differently, for example because one flow
/// has no Scale: "its maps make 'image' 0 to 255, but the maps of data.train make it 0 to 1"; else nothing.
/// Draws no random numbers. The flows must be prepared.
std::optional<std::string> other_scale(const DataFlow& train, const DataFlow& flow);

}  // namespace tpack
