#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data_tools/flow_scan.h"

namespace tpack {

/// Sizes of images, of which at least one was read.
struct SizeSummary {
  ImageSize smallest;  // by pixels
  ImageSize median;
  ImageSize largest;
  int64_t distinct = 0;
};
std::optional<SizeSummary> sizes_in(const FlowScan& scan);

/// Aspect ratio above which an image is listed.
constexpr double kOddAspect = 3;
/// The images with such a shape, in order.
std::vector<const ScannedSample*> odd_shapes_in(const FlowScan& scan);

/// Tables of samples, sizes, numbers and classes of the flows, then possible problems: unread files, odd
/// shapes, rare and absent classes. With `advice_on`.
std::string scans_text(const std::vector<FlowScan>& scans);
/// The same for one flow, for programs.
nlohmann::ordered_json scan_json(const FlowScan& scan);

/// The items of a config that scale the numbers of a flow to mean 0 and deviation 1: the layer "- Normalize:
/// {mean: [...], deviation: [...]}" for its first image, the map "- Standardize: x" for each other component
/// with a different scale. Nothing if no item is needed.
std::vector<std::string> advice_on(const FlowScan& scan);

/// One line for each remark on the classes of the flows: classes that one flow has and another does not, and
/// classes with less than a tenth of the samples of the largest.
std::vector<std::string> class_remarks(const std::vector<FlowScan>& scans);

}  // namespace tpack
