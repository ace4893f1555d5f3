#include "backend/open_device.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "system/machine.h"

namespace tpack {
namespace {

struct Kind {
  OpenDevice open;
  DeviceKind::Number number;
};

std::map<std::string, Kind>& kinds() {
  static auto& all = *new std::map<std::string, Kind>();
  return all;
}

/// The name of a kind that was added twice, for the next opening of a device.
std::string& twice_registered() {
  static auto& name = *new std::string();
  return name;
}

DeviceOptions options_of(const EngineSettings& settings, int threads) {
  DeviceOptions options;
  options.float_type = settings.dtype;
  options.precision = settings.precision;
  options.recompute = settings.recompute;
  options.memory_bytes = static_cast<uint64_t>(settings.memory_mb) * 1'000'000;
  options.algorithm = settings.algorithm;
  options.threads = threads;
  options.cache_dir = settings.cache_dir;
  options.timings = settings.timings;
  options.timing_s = settings.timing_s;
  return options;
}

struct ParsedDevice {
  std::string kind;
  size_t number = 0;

  bool is_part() const { return kinds().at(kind).number == DeviceKind::Number::kPart; }
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
  for (const auto& [kind, of_kind] : kinds()) known += kind + ":0, " + kind + ":1, ";
  throw ConfigError(ref.position, "unknown device '" + name + "'; use " + known + "...");
}

/// "cpu:0", "cpu:0 and cpu:1", "cpu:0 to cpu:3".
std::string first_of(const std::string& kind, size_t count) {
  const std::string first = kind + ":0";
  return count == 1 ? first
                    : first + (count == 2 ? " and " : " to ") + kind + ":" + std::to_string(count - 1);
}

}  // namespace

/// Never throws, because it may run before main or while a plugin loads.
void DeviceKind::add(OpenDevice open, Number number) {
  is_added_ = kinds().emplace(name_, Kind{std::move(open), number}).second;
  if (!is_added_) twice_registered() = name_;
}

DeviceKind::~DeviceKind() {
  if (is_added_)
    kinds().erase(name_);
  else
    twice_registered().clear();
}

std::unique_ptr<Device> open_device(const std::string& name, const DeviceOptions& options) {
  TPACK_ASSERT(twice_registered().empty(), "two kinds of devices are named '" + twice_registered() + "'");
  return kinds().at(parse_device({name, {}}).kind).open(name, options);
}

std::unique_ptr<Device> open_device(const std::string& name, const EngineSettings& settings, int threads) {
  const DeviceOptions options = options_of(settings, threads);
  const bool is_reference = settings.backend == EngineSettings::Backend::kReference;
  if (is_reference && parse_device({name, {}}).is_part()) return make_reference_device(name, options);
  return open_device(name, options);
}

std::unique_ptr<Device> open_device(const std::string& name, const EngineSettings& settings) {
  return open_device(name, settings,
                     settings.threads > 0 ? settings.threads : static_cast<int>(available_processors()));
}

std::vector<size_t> processor_parts(const std::vector<Ref<DeviceName>>& devices) {
  std::vector<size_t> parts;
  for (const Ref<DeviceName>& name : devices) {
    const ParsedDevice device = parse_device(name);
    if (device.kind != parse_device(devices[0]).kind)
      throw ConfigError(name.position, "devices " + devices[0].name + " and " + name.name +
                                           " are of different kinds; use one kind");
    if (device.is_part() && device.number >= devices.size())
      throw ConfigError(name.position,
                        "device " + name.name + ": " + device.kind +
                            ":N is the N-th of as many parts of the processors as there are devices; use " +
                            first_of(device.kind, devices.size()));
    parts.push_back(device.is_part() ? device.number : parts.size());
  }
  return parts;
}

}  // namespace tpack
