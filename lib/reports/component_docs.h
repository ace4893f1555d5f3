#pragma once

#include <string>

#include "core/registry.h"

namespace tpack {

/// The kinds that a config can name: all registered ones except the graph's ops.
std::vector<std::string> documented_kinds();
/// A section of configs ("updates", "model.inputs") and its settings, as a table; "" if there is none.
std::string describe_section(const std::string& path, size_t width = 0);
/// The same as JSON.
std::string describe_section_json(const std::string& path);
/// The components with this name, of all kinds. Errors: ConfigError with the nearest name or section.
std::vector<const ComponentInfo*> components_named(const std::string& name);
/// The file that registers it, relative to the source tree: "lib/layers/conv2d.cpp".
std::string source_file(const ComponentInfo& info);
/// Name, summary, example and parameters as text.
std::string describe(const ComponentInfo& info, size_t width = 0);
/// The same as JSON.
std::string describe_json(const ComponentInfo& info);

}  // namespace tpack
