#pragma once

#include <memory>
#include <string>

#include "backend/device.h"

namespace tpack {

/// The `engine` section: where and how programs run.
struct EngineSettings {
  enum class Backend : uint8_t { kAuto, kReference, kCpu };
  Backend backend = Backend::kAuto;
  DType dtype = DType::kFloat32;
  DeviceOptions::Algorithm algorithm = DeviceOptions::Algorithm::kAuto;
  int threads = 0;        // 0: all that the process may use, divided among the towers
  std::string cache_dir;  // for measured choices; empty: none
  Timings timings = Timings::kMeasured;
};

/// Opens device `name` ("cpu:0"). Errors: ConfigError for a name that is not a device.
std::unique_ptr<Device> open_device(const std::string& name, const EngineSettings& settings, int threads);

}  // namespace tpack
