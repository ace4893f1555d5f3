#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dataflow/data_flow.h"
#include "graph/tower_function.h"

namespace tpack {

/// What the sources of each flow found, one line per source: "data.train: 244 images in 2 classes (ants: 123,
/// bees: 121); ignored 1 file (.gif)\n". If several components have classes, those that the tower (null:
/// none) learns. Prepares the flows. Errors: DataError, ConfigError.
std::string describe_data(const std::map<std::string, DataFlow>& flows, const TowerFunction* tower);

/// For each flow, a sentence if its source knows bad samples that would stop a run that reads them.
std::map<std::string, std::string> known_bad_samples(const std::map<std::string, DataFlow>& flows);

/// The same for bad samples that the source does not know: reads the first, the last and some other samples
/// of each flow, for at most a second.
std::map<std::string, std::string> bad_samples_among_few(const std::map<std::string, DataFlow>& flows);

/// The content of describe_data for programs: for each flow, a list of {samples, unit, classes, remarks} for
/// its sources; samples is null if it is unknown or endless.
nlohmann::ordered_json data_json(const std::map<std::string, DataFlow>& flows, const TowerFunction* tower);

}  // namespace tpack
