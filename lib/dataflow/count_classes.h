#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/source_facts.h"

namespace tpack {

/// How many of these class numbers each class has, in the order of the labels. Without names, there are as
/// many classes as the largest number says; otherwise numbers without a name do not count, and neither do
/// negative ones.
std::vector<SourceFacts::Class> count_classes(const std::vector<std::string>& names,
                                              std::span<const int32_t> numbers);

}  // namespace tpack
