#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataflow/data_flow.h"
#include "dataflow/source.h"
#include "dataflow/source_facts.h"

namespace tpack {

/// The number of samples of each class, in the order of the labels. Without names, the largest number
/// determines the number of classes; otherwise numbers without a name do not count. Negative numbers never
/// count.
std::vector<SourceFacts::Class> count_classes(const std::vector<std::string>& names,
                                              std::span<const int32_t> numbers);

/// The counts of the class numbers in a component: for one number per sample, of all samples; for masks and
/// other integer tensors, of up to kCountedSamples evenly spaced samples, without bad ones. Nothing if the
/// source has no such component. After `prepare`.
std::optional<std::vector<SourceFacts::Class>> count_classes(const RandomAccessSource& source,
                                                             const std::string& component);
constexpr int64_t kCountedSamples = 1000;

/// The same for the samples in the first pass of a flow, without bad samples: after Limit and other stages
/// that choose samples, and after Filter, which needs reading a pass. Nothing if no source has such a
/// component (with a filter: if the flow does not have it). Prepares the flow.
std::optional<std::vector<SourceFacts::Class>> count_classes(const DataFlow& flow,
                                                             const std::string& component);

}  // namespace tpack
