#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/schema.h"

namespace tpack {

/// A part of the data and its share.
struct PartShare {
  std::string part;
  double share = 0;
  Position position = {};

  bool operator==(const PartShare& other) const { return part == other.part && share == other.share; }
};

/// `0.2` for {validation: 0.2}, or shares by part.
template <>
struct Codec<std::vector<PartShare>> {
  static FieldType type();
  static std::optional<std::vector<PartShare>> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const std::vector<PartShare>& shares);
};

/// The division of samples into parts. Part `train` gets the rest.
struct SplitSettings {
  std::optional<std::vector<PartShare>> shares = {};  // default: a fifth for validation
  int64_t folds = 0;
  int64_t fold = 0;
  int64_t seed = 0;
  std::string stratify = {};
  std::string group = {};
  std::string order = {};
  std::string column = {};
  bool hash = false;
};

inline constexpr const char* kTrainPart = "train";
inline constexpr const char* kFoldPart = "validation";  // the validation fold

Schema<SplitSettings> split_settings_schema();

}  // namespace tpack
