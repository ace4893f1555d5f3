#pragma once

#include <vector>

#include "backend/engine/kernel.h"

namespace tpack::cpu {

/// The ways to run a convolution in any direction on this processor, see KernelLibrary::ways.
std::vector<Way> convolution_ways(const Node& node, bool only_direct);

}  // namespace tpack::cpu
