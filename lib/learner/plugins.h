#pragma once

#include <vector>

#include "core/error.h"
#include "core/field.h"

namespace tpack {

/// Opens the shared libraries of a config's `plugins` section; their components can be looked up from then
/// on, to the end of the process. A plugin that is open already stays. Reports every plugin that is absent,
/// is world-writable (or is in such a folder), is not a plugin of tpack, was built against other
/// headers, or has a component whose name is taken.
void load_plugins(const std::vector<Ref<Path>>& plugins, Diagnostics& errors);
/// As above, for files that the command line names. Errors: ConfigError.
void load_plugins(const std::vector<std::string>& files);

}  // namespace tpack
