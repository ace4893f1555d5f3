#pragma once

#include <vector>

#include "core/error.h"
#include "core/field.h"

namespace tpack {

/// Opens the shared libraries of a config's `plugins` section; their components are then available until the
/// end of the process. An open plugin stays open. Reports every plugin that is missing, that other
/// users could replace (world-writable, or below such a folder; for root, of another owner), is not a plugin
/// of tpack, was built against other headers, or has a component whose name is taken.
void load_plugins(const std::vector<Ref<Path>>& plugins, Diagnostics& errors);
/// The same for files on the command line. Errors: ConfigError.
void load_plugins(const std::vector<std::string>& files);

}  // namespace tpack
