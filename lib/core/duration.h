#pragma once

#include <cstdint>

#include "core/field.h"

namespace tpack {

/// A time of a run: `{steps: 500}`, `{epochs: 2}`, or a number of epochs.
struct Duration {
  enum class Unit : uint8_t { kEpochs, kSteps };
  double count = 0;
  Unit unit = Unit::kEpochs;

  bool operator==(const Duration&) const = default;
  /// In steps; not rounded.
  double steps(int64_t steps_per_epoch) const {
    return unit == Unit::kSteps ? count : count * static_cast<double>(steps_per_epoch);
  }
  /// "500 steps", "1 epoch".
  std::string str() const;
};

template <>
struct Codec<Duration> {
  static FieldType type();
  /// Steps are whole; the reader's limits are for the number.
  static std::optional<Duration> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Duration& duration);
};

}  // namespace tpack
