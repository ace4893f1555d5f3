#include "backend/open_device.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kCpu = "cpu";

std::unique_ptr<Device> open_cpu(const std::string& name, const EngineSettings& settings, int threads) {
  DeviceOptions options;
  options.float_type = settings.dtype;
  options.factors = settings.factors;
  options.algorithm = settings.algorithm;
  options.threads = threads;
  options.cache_dir = settings.cache_dir;
  options.timings = settings.timings;
  options.timing_s = settings.timing_s;
  if (settings.backend == EngineSettings::Backend::kReference) return make_reference_device(name, options);
  return make_cpu_device(name, options);
}

std::map<std::string, OpenDevice>& kinds() {
  static auto& all = *new std::map<std::string, OpenDevice>{{kCpu, open_cpu}};
  return all;
}

struct ParsedDevice {
  std::string kind;
  size_t number = 0;
};

ParsedDevice parse_device(const Ref<DeviceName>& ref) {
  const std::string& name = ref.name;
  constexpr size_t kMaxDigits = 9;
  const std::vector<std::string> parts = split(name, ':');
  const bool numbered = parts.size() == 2 && !parts[1].empty() && parts[1].size() <= kMaxDigits &&
                        parts[1].find_first_not_of("0123456789") == std::string::npos &&
                        (parts[1].size() == 1 || parts[1][0] != '0');
  if (numbered && kinds().contains(parts[0]))
    return {parts[0], static_cast<size_t>(std::strtoull(parts[1].c_str(), nullptr, 10))};
  std::string known;
  for (const auto& [kind, open] : kinds()) known += kind + ":0, " + kind + ":1, ";
  throw ConfigError(ref.position, "unknown device '" + name + "'; use " + known + "...");
}

std::string cpus(size_t count) {
  std::string names = "cpu:0";
  if (count > 2) names += " to";
  if (count == 2) names += " and";
  return count == 1 ? names : names + " cpu:" + std::to_string(count - 1);
}

}  // namespace

DeviceKind::DeviceKind(std::string name, OpenDevice open) : name_(std::move(name)) {
  const bool is_new = kinds().emplace(name_, std::move(open)).second;
  TPACK_ASSERT(is_new, "two kinds of devices named '" + name_ + "'");
}

DeviceKind::~DeviceKind() { kinds().erase(name_); }

std::unique_ptr<Device> open_device(const std::string& name, const EngineSettings& settings, int threads) {
  return kinds().at(parse_device({name, {}}).kind)(name, settings, threads);
}

std::vector<size_t> processor_parts(const std::vector<Ref<DeviceName>>& devices) {
  std::vector<size_t> parts;
  for (const Ref<DeviceName>& name : devices) {
    const ParsedDevice device = parse_device(name);
    if (device.kind != parse_device(devices[0]).kind)
      throw ConfigError(name.position, "devices " + devices[0].name + " and " + name.name +
                                           " are of different kinds; use one kind");
    if (device.kind == kCpu && device.number >= devices.size())
      throw ConfigError(name.position,
                        "device " + name.name +
                            ": cpu:N is the N-th of as many parts of the processors as there " +
                            "are devices; use " + cpus(devices.size()));
    parts.push_back(device.kind == kCpu ? device.number : parts.size());
  }
  return parts;
}

}  // namespace tpack
