#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// The files of a .tar archive, plain or compressed (gzip, Zstandard), for whose name (the last part of the
/// path) `wanted` is true, by that name. For archives of small datasets: all content is in memory. Other
/// kinds of entries are skipped.
///
/// Source: POSIX.1-1988, "ustar". Errors: DataError with the path if the archive is damaged or ends early,
/// has two wanted files of one name, or if wanted files have more than `most_bytes` together.
std::map<std::string, std::vector<uint8_t>> read_tar_gz(const std::string& path,
                                                        const std::function<bool(std::string_view)>& wanted,
                                                        size_t most_bytes);

}  // namespace tpack
