#pragma once

#include <string>

namespace tpack {

/// The JSON Schema (2020-12) of a config with all registered components, for editors.
std::string json_schema();

}  // namespace tpack
