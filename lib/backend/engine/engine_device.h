#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backend/device.h"
#include "backend/engine/kernel.h"

namespace tpack {

/// The parts of the engine that depend on the kind of device.
struct DeviceParts {
  std::unique_ptr<KernelLibrary> library;
  /// Called before the first compile, on the thread that compiles.
  std::function<std::unique_ptr<KernelQueue>()> open_queue;
  Memory* memory = &host_memory();  // of variables and results; outlives the device
};

/// A device that runs the kernels of a library: lowering, layout choice, timing and memory plan are the same
/// for all kinds. `options.precision` is handled by the library.
std::unique_ptr<Device> make_engine_device(std::string name, const DeviceOptions& options, DeviceParts parts);

}  // namespace tpack
