#include "parallel/gradient_buckets.h"

namespace tpack {

std::vector<GradientBucket> gradient_buckets(const FlatLayout& layout, int64_t elements) {
  std::vector<GradientBucket> buckets;
  for (size_t i = 0; i < layout.entries.size(); ++i) {
    const int64_t begin = layout.entries[i].offset;
    const int64_t end = i + 1 < layout.entries.size() ? layout.entries[i + 1].offset : layout.size;
    if (buckets.empty() || buckets.back().size >= elements) buckets.push_back({.begin = begin});
    buckets.back().size = end - buckets.back().begin;
    buckets.back().variables.push_back(layout.entries[i].name);
  }
  return buckets;
}

}  // namespace tpack
