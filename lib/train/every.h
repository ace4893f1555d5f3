#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/field.h"
#include "train/run.h"

namespace tpack {

/// How often a callback is triggered: `{steps: 500}`, `{epochs: 2}`, both, or a number alone, which is
/// epochs. Parts of epochs are rounded to steps.
struct Every {
  std::optional<int64_t> steps;
  std::optional<double> epochs;
  bool before_train = false;
  Position position = {};

  /// Whether it may be due after steps, or after epochs.
  bool has_steps() const { return steps.has_value() || has_part(); }
  bool has_epochs() const { return epochs.has_value(); }
  /// After the step that is done. In the last step of an epoch after which it is due, too, it is due once,
  /// with the epoch.
  bool is_due_after_step(const Run& run) const;
  bool is_due_after_epoch(const Run& run) const;
  /// Whether it is due at some time of a run so long, besides before_train.
  bool is_ever_due(const RunLength& length) const;
  /// Errors: ConfigError if parts of epochs are shorter than a step.
  void check(const RunLength& length) const;

 private:
  bool has_part() const;
  bool ends_a_part(int64_t steps_done, const RunLength& length) const;
};

template <>
struct Codec<Every> {
  static FieldType type();
  static std::optional<Every> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Every& every);
};

}  // namespace tpack
