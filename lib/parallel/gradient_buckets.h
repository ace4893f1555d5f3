#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/variables.h"

namespace tpack {

/// A part of a gradient block that is reduced separately.
struct GradientBucket {
  int64_t begin = 0;  // elements of the block
  int64_t size = 0;   // elements, padding included
  std::vector<std::string> variables;
};

/// Divides a block in its order, in which backward finishes the gradients, into parts of whole variables; all
/// except the last have at least `elements` elements.
std::vector<GradientBucket> gradient_buckets(const FlatLayout& layout, int64_t elements);

}  // namespace tpack
