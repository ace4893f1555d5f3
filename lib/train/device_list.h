#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/field.h"

namespace tpack {

/// The devices that the towers of a trainer run on: their names, or a number of equal parts of the
/// processors (`4` is [cpu:0, cpu:1, cpu:2, cpu:3]), or nothing, for one part per memory node.
struct DeviceList {
  std::vector<Ref<DeviceName>> names = {};

  /// One for each tower.
  std::vector<Ref<DeviceName>> towers() const;
};

template <>
struct Codec<DeviceList> {
  static FieldType type();
  static std::optional<DeviceList> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const DeviceList& devices);
};

}  // namespace tpack
