#include "backend/open_device.h"

#include "core/error.h"
#include "core/text.h"

namespace tpack {

std::unique_ptr<Device> open_device(const std::string& name, const EngineSettings& settings, int threads) {
  const std::vector<std::string> parts = split(name, ':');
  const bool numbered =
      parts.size() == 2 && !parts[1].empty() && parts[1].find_first_not_of("0123456789") == std::string::npos;
  if (!numbered || parts[0] != "cpu")
    throw ConfigError("unknown device '" + name + "'; use cpu:0, cpu:1, ...");
  DeviceOptions options;
  options.float_type = settings.dtype;
  options.algorithm = settings.algorithm;
  options.threads = threads;
  options.cache_dir = settings.cache_dir;
  options.timings = settings.timings;
  if (settings.backend == EngineSettings::Backend::kReference) return make_reference_device(name, options);
  return make_cpu_device(name, options);
}

}  // namespace tpack
