#pragma once

#include <string>

namespace tpack {

/// Name, size and date of a file as one line: a part of a source's fingerprint. The file is not opened; a
/// missing file has no size, and reading it fails later.
std::string file_stamp(const std::string& path);

}  // namespace tpack
