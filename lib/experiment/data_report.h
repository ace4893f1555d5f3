#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dataflow/data_flow.h"

namespace tpack {

/// What the sources of each flow found, one line per source: "data.train: 244 images in 2 classes (ants: 123,
/// bees: 121); ignored 1 file (.gif)\n". Prepares the flows. Errors: DataError, ConfigError.
std::string describe_data(const std::map<std::string, DataFlow>& flows);

/// A sentence for each source that knows of bad samples which would stop a run that reads them.
std::vector<std::string> known_bad_samples(const std::map<std::string, DataFlow>& flows);

/// What describe_data says, for programs: by flow, a list of {samples, unit, classes, remarks} for its
/// sources; samples is null if it is unknown or endless.
nlohmann::ordered_json data_json(const std::map<std::string, DataFlow>& flows);

}  // namespace tpack
