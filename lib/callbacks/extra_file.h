#pragma once

#include <functional>
#include <string>

namespace tpack {

/// Writes a file that a run can do without: makes its folder, then calls `write`. Where that fails, the log
/// says so, and the run goes on.
void write_extra_file(const std::string& path, const std::function<void()>& write);

}  // namespace tpack
