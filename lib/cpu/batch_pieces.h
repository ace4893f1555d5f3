#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cpu/kernel.h"

namespace tpack::cpu {

/// Which operands of a node have a part for each image (their first axis is the batch axis). An output
/// without such parts is a sum over the images; an input without them is the same for all images.
struct PerImage {
  std::vector<bool> in;
  std::vector<bool> out;
};

/// Prepares a kernel that computes the request's node in pieces of its batch: one kernel per piece, which
/// `prepare` makes for a number of images and which runs on one thread. Sums over the images are added in the
/// order of the pieces. There are `request.pieces` pieces, or fewer if there are fewer images. Formats must
/// not depend on the number of images.
PreparedKernel cut_batch(const KernelRequest& request, int64_t images, const PerImage& per_image,
                         const std::function<PreparedKernel(int64_t images)>& prepare);

}  // namespace tpack::cpu
