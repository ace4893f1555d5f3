#include "callbacks/nvml.h"

#include <dlfcn.h>

#include "core/error.h"

namespace tpack {
struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned int*) = nullptr;
  int (*device)(unsigned int, void**) = nullptr;
  int (*utilization)(void*, NvmlUtilization*) = nullptr;
  int (*memory)(void*, NvmlMemory*) = nullptr;
  const char* (*error_string)(int) = nullptr;
};

Nvml::Nvml(const std::string& library)
    : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)), functions_(std::make_unique<Functions>()) {
  if (handle_ == nullptr)
    throw ResourceError("cannot load " + library + ", a part of NVIDIA's driver: " + dlerror());
  try {
    const auto find = [&]<class F>(const char* name, F& function) {
      function = reinterpret_cast<F>(dlsym(handle_, name));
      if (function == nullptr) throw ResourceError(library + " has no function " + name);
    };
    find("nvmlInit_v2", functions_->init);
    find("nvmlShutdown", functions_->shutdown);
    find("nvmlDeviceGetCount_v2", functions_->count);
    find("nvmlDeviceGetHandleByIndex_v2", functions_->device);
    find("nvmlDeviceGetUtilizationRates", functions_->utilization);
    find("nvmlDeviceGetMemoryInfo", functions_->memory);
    find("nvmlErrorString", functions_->error_string);
    check(functions_->init(), "nvmlInit");
    unsigned int count = 0;
    check(functions_->count(&count), "nvmlDeviceGetCount");
    devices_.resize(count);
    for (unsigned int i = 0; i < count; ++i)
      check(functions_->device(i, &devices_[i]), "nvmlDeviceGetHandleByIndex");
  } catch (const ResourceError&) {
    dlclose(handle_);
    throw;
  }
}

Nvml::~Nvml() {
  functions_->shutdown();
  dlclose(handle_);
}

void Nvml::check(int result, const char* call) const {
  if (result != 0) throw ResourceError(std::string(call) + ": " + functions_->error_string(result));
}

GpuReading Nvml::read(size_t device) const {
  NvmlUtilization utilization;
  NvmlMemory memory;
  check(functions_->utilization(devices_.at(device), &utilization), "nvmlDeviceGetUtilizationRates");
  check(functions_->memory(devices_.at(device), &memory), "nvmlDeviceGetMemoryInfo");
  return {static_cast<double>(utilization.gpu), memory.used};
}

}  // namespace tpack
