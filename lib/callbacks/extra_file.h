#pragma once

#include <functional>
#include <string>

namespace tpack {

/// Writes an optional file of a run: makes its folder, then calls `write`. A failure is logged, and the run
/// continues.
void write_extra_file(const std::string& path, const std::function<void()>& write);

}  // namespace tpack
