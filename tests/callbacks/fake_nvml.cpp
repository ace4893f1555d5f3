// A management library with two devices: each reading of device N finds it 10 percent busier than the one
// before, from 10 * (N + 1) percent on, with N + 1 GB more in use, from N + 1 GB on.
#include <array>
#include <atomic>

#include "callbacks/nvml.h"

namespace {

std::array<std::atomic<unsigned int>, 2> readings = {0, 0};
std::array<int, 2> numbers = {0, 1};

}  // namespace

extern "C" {

/// How often device 0 was read.
unsigned int fake_nvml_readings() { return readings[0]; }

int init() __asm__("nvmlInit_v2");
int init() {
  for (auto& count : readings) count = 0;
  return 0;
}
int nvmlShutdown() { return 0; }
int count(unsigned int* devices) __asm__("nvmlDeviceGetCount_v2");
int count(unsigned int* devices) {
  *devices = 2;
  return 0;
}
int device_at(unsigned int index, void** device) __asm__("nvmlDeviceGetHandleByIndex_v2");
int device_at(unsigned int index, void** device) {
  *device = &numbers.at(index);
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, tpack::NvmlUtilization* utilization) {
  const auto number = static_cast<unsigned int>(*static_cast<int*>(device));
  utilization->gpu = 10 * (number + 1) + 10 * readings.at(number);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, tpack::NvmlMemory* memory) {
  const auto number = static_cast<unsigned int>(*static_cast<int*>(device));
  memory->used = (number + 1) * 1000000000ULL * (1 + readings.at(number)++);
  return 0;
}
const char* nvmlErrorString(int /*result*/) { return "unknown error"; }
}
