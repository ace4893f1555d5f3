#pragma once

#include "cpu/kernel.h"

namespace tpack::cpu {

/// The reference kernel of a node whose op has no kernel in this backend: correct but slow, on one thread and
/// in plain layout. Allocates in each run. Warns once per op. Errors: InternalError for an op without a
/// reference kernel.
PreparedKernel prepare_reference(const KernelRequest& request);

}  // namespace tpack::cpu
