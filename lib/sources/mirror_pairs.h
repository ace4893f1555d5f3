#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/fitted_data.h"
#include "dataflow/spec.h"

// Points and classes that change places when an image is mirrored, and what names say of them.
namespace tpack {

/// What the field `mirror_pairs` of a source says of `count` points or classes. Errors: ConfigError, which
/// begins with `owner`, for what is not a pair, is not there, or is in two pairs.
MirrorPairs mirror_pairs_of(const std::string& owner, const std::vector<std::vector<int64_t>>& written,
                            int64_t count);
/// The places of names that differ by left and right alone: left_eye and right_eye.
MirrorPairs left_and_right(const std::vector<std::string>& names);
/// What names of columns say of places in images. `points`: components that are known to be such places;
/// `has_pairs`: whether the config has mirror_pairs.
std::vector<std::string> remarks_on_points(const std::vector<FittedComponent>& components,
                                           const std::vector<std::string>& points, bool has_pairs);

}  // namespace tpack
