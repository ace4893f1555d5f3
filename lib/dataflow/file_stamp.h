#pragma once

#include <string>

namespace tpack {

/// Name, size and date of a file as one line: a part of a source's fingerprint. The file is not opened; one
/// that is gone has no size, and reading it is what fails.
std::string file_stamp(const std::string& path);

}  // namespace tpack
