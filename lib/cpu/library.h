#pragma once

#include <memory>

#include "backend/device.h"
#include "backend/engine/kernel.h"

namespace tpack::cpu {

/// The kernels of processors: oneDNN's and tpack's own.
std::unique_ptr<KernelLibrary> make_library(Precision precision = Precision::kFp32);

}  // namespace tpack::cpu
