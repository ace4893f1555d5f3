#pragma once

#include <optional>
#include <string>

#include "dataflow/data_flow.h"

// What maps of flows do, found by trying them on a few samples. Flows whose samples come once are not looked
// at.
namespace tpack {

/// The first map of a flow that draws random numbers, with its place: "train.yaml:7:7:
/// augment_image_component_0"; nothing if none does. Maps of flows inside a JoinData are not tried. Prepares
/// the flow.
std::optional<std::string> random_map(const DataFlow& flow);

/// Of the same samples, the maps of two flows may make numbers of different size, as where one flow lacks a
/// Scale: "its maps make 'image' 0 to 255, and those of data.train 0 to 1"; nothing if they do not. Nothing
/// random is drawn. The flows are prepared.
std::optional<std::string> other_scale(const DataFlow& train, const DataFlow& flow);

}  // namespace tpack
