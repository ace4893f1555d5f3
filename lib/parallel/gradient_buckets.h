#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/variables.h"

namespace tpack {

/// A part of a gradient block that is reduced by itself.
struct GradientBucket {
  int64_t begin = 0;  // elements of the block
  int64_t size = 0;   // elements, padding included
  std::vector<std::string> variables;
};

/// Cuts a block in its order, which is that in which backward finishes the gradients, into parts of whole
/// variables; all but the last have at least so many elements.
std::vector<GradientBucket> gradient_buckets(const FlatLayout& layout, int64_t elements);

}  // namespace tpack
