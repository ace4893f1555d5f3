#include "backend/device.h"

namespace tpack {
namespace {

MakeDevice& cpu_maker() {
  static MakeDevice make = nullptr;
  return make;
}

}  // namespace

CpuDevices::CpuDevices(MakeDevice make) { cpu_maker() = make; }

std::unique_ptr<Device> make_cpu_device(const std::string& name, const DeviceOptions& options) {
  TPACK_ASSERT(cpu_maker() != nullptr, "the module cpu is not linked");
  return cpu_maker()(name, options);
}

}  // namespace tpack
