#include "train/device_list.h"

#include <set>

#include "backend/open_device.h"
#include "system/machine.h"

namespace tpack {
namespace {

constexpr int64_t kMax = 1024;

std::vector<Ref<DeviceName>> parts_of_the_processors(size_t count, const Position& position) {
  std::vector<Ref<DeviceName>> names;
  for (size_t i = 0; i < count; ++i) names.push_back(default_device(i, position));
  return names;
}

}  // namespace

std::vector<Ref<DeviceName>> DeviceList::towers() const {
  return names.empty() ? parts_of_the_processors(own_memory_nodes(), {}) : names;
}

FieldType Codec<DeviceList>::type() {
  FieldType type =
      FieldType::either({FieldType::integer(), FieldType::list_of(Codec<Ref<DeviceName>>::type())},
                        "a number, or names of devices");
  type.nullable = true;
  return type;
}

std::optional<DeviceList> Codec<DeviceList>::parse(const ConfigNode& node, Reader& reader) {
  if (node.is_null()) return DeviceList{};
  if (!node.is_list()) {
    const auto count = parse_int(node, reader, 1, kMax);
    return count ? std::optional(
                       DeviceList{parts_of_the_processors(static_cast<size_t>(*count), node.position())})
                 : std::nullopt;
  }
  if (node.size() == 0) {
    reader.fail(node, "an empty list; name at least one device, such as cpu:0");
    return std::nullopt;
  }
  DeviceList devices;
  std::set<std::string> seen;
  for (const ConfigNode& item : node.items()) {
    if (!item.is_string()) {
      reader.fail(item, "expected a name such as cpu:0, found " + item.describe() + "; for " +
                            std::to_string(node.size()) + " towers, write " + std::to_string(node.size()) +
                            " instead of a list");
      return std::nullopt;
    }
    if (!seen.insert(item.text()).second) {
      reader.fail(item, "duplicate device '" + item.text() + "'; each device has one tower");
      return std::nullopt;
    }
    devices.names.push_back({item.text(), item.position()});
  }
  return devices;
}

ConfigNode Codec<DeviceList>::dump(const DeviceList& devices) {
  if (devices.names.empty()) return {};
  std::vector<ConfigNode> items;
  for (const Ref<DeviceName>& name : devices.names) items.emplace_back(name.name);
  return ConfigNode::list(std::move(items));
}

}  // namespace tpack
