#pragma once

#include "backend/device.h"

namespace tpack {

/// The fastest arithmetic and memory traffic of a device.
struct MachineLimits {
  double flops_per_s = 0;  // of matrix products, in the precision of the device
  double bytes_per_s = 0;  // read and written, in arrays larger than the caches
};

/// Measures both with programs of the device: products of square matrices of several sizes, the fastest of
/// which counts, and STREAM's "scale" (y = 2 x). Takes about a third of a second on two processors, and
/// 256 MB. The device must have its variables. Source: https://www.cs.virginia.edu/stream/
MachineLimits measure_limits(Device& device);

}  // namespace tpack
