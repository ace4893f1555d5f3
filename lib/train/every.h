#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/field.h"
#include "train/run.h"

namespace tpack {

/// How often a callback is triggered: `{steps: 500}`, `{epochs: 2}`, both, or a plain number of epochs.
/// Fractions of epochs are rounded to steps.
struct Every {
  std::optional<int64_t> steps;
  std::optional<double> epochs;
  bool before_train = false;
  Position position = {};

  /// Whether it may be due after steps, or after epochs.
  bool has_steps() const { return steps.has_value() || has_part(); }
  bool has_epochs() const { return epochs.has_value(); }
  /// Whether it is due after the finished step. If it is also due after the epoch, it is due only once, with
  /// the epoch.
  bool is_due_after_step(const Run& run) const;
  bool is_due_after_epoch(const Run& run) const;
  /// Whether it is ever due in a run with this length, except in before_train.
  bool is_ever_due(const RunLength& length) const;
  /// Errors: ConfigError if fractions of epochs are shorter than a step.
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
