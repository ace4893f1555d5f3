#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/fitted_data.h"
#include "dataflow/spec.h"

// Points and classes to swap when an image is mirrored, and hints from their names.
namespace tpack {

/// The pairs in the field `mirror_pairs` of a source with `count` points or classes. Errors: ConfigError,
/// which begins with `owner`, for an entry that is not a pair, is out of range, or is in two pairs.
MirrorPairs mirror_pairs_of(const std::string& owner, const std::vector<std::vector<int64_t>>& written,
                            int64_t count);
/// The indices of names that differ only by left and right: left_eye and right_eye.
MirrorPairs left_and_right(const std::vector<std::string>& names);
/// Warnings for column names that look like positions in images. `points`: components that are known to be
/// points; `has_pairs`: whether the config has mirror_pairs.
std::vector<std::string> remarks_on_points(const std::vector<FittedComponent>& components,
                                           const std::vector<std::string>& points, bool has_pairs);

}  // namespace tpack
