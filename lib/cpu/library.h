#pragma once

#include <memory>

#include "backend/engine/kernel.h"
#include "tensor/dtype.h"

namespace tpack::cpu {

/// The kernels of processors: oneDNN's and tpack's own. `factors`: see round_factors.
std::unique_ptr<KernelLibrary> make_library(DType factors = DType::kFloat32);

}  // namespace tpack::cpu
