#pragma once

#include "backend/engine/kernel.h"

namespace tpack {

/// The reference kernel of a node if a library does not have a kernel for its op: correct but slow, on one
/// thread and in plain layout. Allocates in each run. Warns once per op that `device` has no kernel, unless
/// `device` is empty. `host_address`: from an address in the memory of the device to one that the host can
/// use; null: they are the same. Errors: InternalError for an op without a reference kernel.
PreparedKernel prepare_reference(const KernelRequest& request, const std::string& device,
                                 std::byte* (*host_address)(std::byte*) = nullptr);

}  // namespace tpack
