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

/// How much longer than wide, or wider than long, an image must be to be listed.
constexpr double kOddAspect = 3;
/// The images of that shape, in their order.
std::vector<const ScannedSample*> odd_shapes_in(const FlowScan& scan);

/// Tables of samples, sizes, numbers and classes of the flows, then what may be wrong with them: files that
/// are not read, odd shapes, rare and absent classes. With `advice_on`.
std::string scans_text(const std::vector<FlowScan>& scans);
/// The same of one flow, for programs.
nlohmann::ordered_json scan_json(const FlowScan& scan);

/// The item of a config that brings the numbers of a flow to mean 0 and deviation 1: the layer
/// "- Normalize: {mean: [...], deviation: [...]}" for its first image, the map "- Standardize: x" for each
/// component of other numbers whose scale is another one. Nothing if there is nothing to bring.
std::vector<std::string> advice_on(const FlowScan& scan);

/// One line for each remark on the classes of the flows: a class of one flow that another does not have, and
/// one that has less than a tenth of the samples of the largest.
std::vector<std::string> class_remarks(const std::vector<FlowScan>& scans);

}  // namespace tpack
