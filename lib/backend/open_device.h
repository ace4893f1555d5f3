#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/device.h"
#include "core/field.h"
#include "core/plugin.h"

namespace tpack {

/// The `engine` section: where and how programs run.
struct EngineSettings {
  enum class Backend : uint8_t { kAuto, kReference, kKernels };
  Backend backend = Backend::kAuto;
  DType dtype = DType::kFloat32;
  DeviceOptions::Algorithm algorithm = DeviceOptions::Algorithm::kAuto;
  int threads = 0;        // 0: all threads that the process may use, divided among the towers
  std::string cache_dir;  // for measured choices; empty: none
  Timings timings = Timings::kMeasured;
  double timing_s = DeviceOptions{}.timing_s;  // for measuring, of all programs of a device together
  Precision precision = Precision::kFp32;
  bool recompute = false;  // less memory for activations, the same bits: see recompute_sweeps
  int64_t memory_mb = 0;   // that training may take (10^6 bytes); 0: no limit
};

/// Opens the device with this name.
using OpenDevice =
    std::function<std::unique_ptr<Device>(const std::string& name, const DeviceOptions& options)>;

/// A kind of devices: NAME:0, NAME:1, ... can be opened during the object's lifetime. If the name exists,
/// opening any device is an InternalError. Threads: none may open a device meanwhile.
class DeviceKind {
 public:
  /// The meaning of the number in a device's name.
  enum class Number : uint8_t {
    kDevice,  // which device of the machine it is
    kPart     // a part of the processors, out of as many equal parts as there are devices
  };
  DeviceKind(std::string name, OpenDevice open, Number number = Number::kDevice) : name_(std::move(name)) {
    PluginInterface<kPluginVersion>::needed();
    add(std::move(open), number);
  }
  ~DeviceKind();
  DeviceKind(const DeviceKind&) = delete;
  DeviceKind& operator=(const DeviceKind&) = delete;

 private:
  void add(OpenDevice open, Number number);

  std::string name_;
  bool is_added_ = false;
};

/// What runs on no device by name runs on the first of this kind, or on as many of them as it needs.
inline constexpr const char* kDefaultKind = "cpu";
inline Ref<DeviceName> default_device(size_t number = 0, const Position& position = {}) {
  return {kDefaultKind + (":" + std::to_string(number)), position};
}

/// Opens device `name`. Errors: ConfigError for a name that is not a device; errors of opening it.
std::unique_ptr<Device> open_device(const std::string& name, const DeviceOptions& options);
std::unique_ptr<Device> open_device(const std::string& name, const EngineSettings& settings, int threads);
/// With the threads of the settings; if they leave it open, one for each available processor.
std::unique_ptr<Device> open_device(const std::string& name, const EngineSettings& settings);

/// The part of this process's processors for each device, if they are divided into as many equal parts as
/// there are devices: part N for cpu:N, otherwise the part at the device's place in the list. Errors:
/// ConfigError (with the position of the name) for a name that is not a device, for devices of several kinds
/// (which cannot share a plan), or for a part that does not exist.
std::vector<size_t> processor_parts(const std::vector<Ref<DeviceName>>& devices);

}  // namespace tpack
