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

/// How many of these class numbers each class has, in the order of the labels. Without names, there are as
/// many classes as the largest number says; otherwise numbers without a name do not count, and neither do
/// negative ones.
std::vector<SourceFacts::Class> count_classes(const std::vector<std::string>& names,
                                              std::span<const int32_t> numbers);

/// How many of the numbers in a component each class has. Of one number for each sample, those of all; of
/// masks and other tensors of integers, the numbers in up to kCountedSamples samples, evenly spaced, without
/// bad ones. Nothing if the source has no such component. After `prepare`.
std::optional<std::vector<SourceFacts::Class>> count_classes(const RandomAccessSource& source,
                                                             const std::string& component);
constexpr int64_t kCountedSamples = 1000;

/// As above, of the samples in the first pass of a flow: after Limit and other stages that choose samples,
/// and after Filter, for which a pass is read, without bad samples. Nothing if no source has such a component
/// (and no filter, behind which that of the flow counts). Prepares the flow.
std::optional<std::vector<SourceFacts::Class>> count_classes(const DataFlow& flow,
                                                             const std::string& component);

}  // namespace tpack
