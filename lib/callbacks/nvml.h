#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tpack {

// As in NVIDIA's nvml.h: nvmlUtilization_t and nvmlMemory_t.
struct NvmlUtilization {
  unsigned int gpu = 0;
  unsigned int memory = 0;
};
struct NvmlMemory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

/// The state of a GPU at one moment.
struct GpuReading {
  double utilization = 0;  // percent of the time of the last sample in which it was busy
  uint64_t used_bytes = 0;
};

/// NVIDIA's management library, loaded at run time, so it is not needed for the build. Threads: one at a
/// time. Source: NVML API reference, functions of version 2 for initialization, count and handles.
class Nvml {
 public:
  /// `library`: its file name for the dynamic loader. Errors: ResourceError with the missing part.
  explicit Nvml(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  size_t count() const { return devices_.size(); }
  /// Errors: ResourceError.
  GpuReading read(size_t device) const;

 private:
  struct Functions;
  void check(int result, const char* call) const;

  void* handle_ = nullptr;
  std::unique_ptr<Functions> functions_;
  std::vector<void*> devices_;
};

}  // namespace tpack
