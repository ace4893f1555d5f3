#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/duration.h"
#include "core/registry.h"

namespace tpack {

/// A step of a run, and the length of the run.
struct StepOfRun {
  int64_t step = 0;  // from 0
  int64_t steps_per_epoch = 1;
  int64_t max_epoch = 1;
};

/// A number as a function of the steps of a run, written instead of the number: `learning_rate: {Cosine:
/// {start: 0.1, warmup: 5}}`. It has no state: a resumed run has the same values. Threads: const.
class Schedule {
 public:
  static constexpr const char* kKind = "schedule";
  virtual ~Schedule() = default;

  /// Parameters of every schedule.
  struct Common {
    enum class By : uint8_t { kStep, kEpoch };
    By by = By::kStep;
    Duration warmup;
    double warmup_start = 0;
    std::optional<Duration> length;
  };
  static Schema<Common> common_schema();
  void take(const Common& common) { common_ = common; }

  /// The number of that step.
  virtual double at(const StepOfRun& now) const;
  /// The end of the schedule, if it is set.
  std::optional<Duration> length() const { return common_.length; }
  /// Steps of the warm-up.
  virtual double warmup_steps(int64_t steps_per_epoch) const { return common_.warmup.steps(steps_per_epoch); }

 protected:
  /// A step as a schedule sees it; by epoch, it is the first one of its epoch.
  struct Place {
    double step = 0;    // from the beginning of the run
    double epoch = 0;   // number of finished epochs
    double warmup = 0;  // steps
    double length = 0;  // steps
    double steps_per_epoch = 1;

    /// Steps since the end of the warm-up.
    double since_warmup() const { return step - warmup; }
    /// The finished share of the length after the warm-up, 0 to 1.
    double progress() const;
  };
  /// The number of a step after the warm-up.
  virtual double value(const Place& place) const {
    (void)place;
    return 0;
  }

 private:
  Common common_;
};

/// A number or a schedule.
struct Scheduled {
  double number = 0;
  Part<Schedule> schedule = {};

  Scheduled() = default;
  Scheduled(double value) : number(value) {}  // NOLINT(google-explicit-constructor): a number is one
};
template <>
struct Codec<Scheduled> {
  static FieldType type();
  static std::optional<Scheduled> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Scheduled& value);
};

}  // namespace tpack
