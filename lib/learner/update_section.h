#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.h"
#include "optim/optimizer.h"
#include "optim/update.h"

namespace tpack {

/// One pattern for variables (is_for_variable), or a list of them.
struct VariablePatterns {
  std::vector<Ref<VariablePattern>> all;
};
template <>
struct Codec<VariablePatterns> {
  static FieldType type();
  static std::optional<VariablePatterns> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const VariablePatterns& patterns);
};

/// One entry of `updates`.
struct UpdateSection {
  std::string name;
  Ref<CostName> cost = {kCost, {}};
  VariablePatterns variables;
  Slot<Optimizer> optimizer;
  int64_t every = 1;
  std::optional<int64_t> steps = {};  // of a round; set in all updates or in none
  Position position = {};
};
/// In the order of the file. The short form `GAN: {...}` is read as two updates.
template <>
struct Codec<std::vector<UpdateSection>> {
  static FieldType type();
  static std::optional<std::vector<UpdateSection>> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const std::vector<UpdateSection>& updates);
};

/// When each of them runs.
std::vector<UpdateSchedule> update_schedules(const std::vector<UpdateSection>& updates);

}  // namespace tpack
