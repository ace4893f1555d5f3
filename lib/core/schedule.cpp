#include "core/schedule.h"

#include <algorithm>
#include <cmath>

namespace tpack {

template <>
struct EnumNames<Schedule::Common::By> {
  static constexpr std::array<std::pair<const char*, Schedule::Common::By>, 2> kNames = {
      {{"step", Schedule::Common::By::kStep}, {"epoch", Schedule::Common::By::kEpoch}}};
};

Schema<Schedule::Common> Schedule::common_schema() {
  return Schema<Common>("Parameters of every schedule.")
      .field("by", &Common::by,
             "step: the number changes at each step; epoch: each epoch uses the number of its first step")
      .field("warmup", &Common::warmup,
             "time of the warm-up before the schedule, {steps: 500} or a number of epochs: the number rises "
             "linearly from `warmup_start`; the first step already uses the first increment")
      .field("warmup_start", &Common::warmup_start, "number at the start of the warm-up")
      .field("length", &Common::length,
             "time until the end of the schedule, including the warm-up; after it, the number stays; "
             "default: max_epoch");
}

double Schedule::Place::progress() const {
  const double steps = length - warmup;
  return steps > 0 ? std::clamp(since_warmup() / steps, 0.0, 1.0) : 1.0;
}

double Schedule::at(const StepOfRun& now) const {
  Place place;
  const bool by_epoch = common_.by == Common::By::kEpoch;
  const int64_t step = by_epoch ? now.step / now.steps_per_epoch * now.steps_per_epoch : now.step;
  place.steps_per_epoch = static_cast<double>(now.steps_per_epoch);
  place.warmup = common_.warmup.steps(now.steps_per_epoch);
  place.length =
      common_.length.value_or(Duration{static_cast<double>(now.max_epoch)}).steps(now.steps_per_epoch);
  const double unit = by_epoch ? place.steps_per_epoch : 1.0;
  const double part = place.warmup > 0 ? (static_cast<double>(step) + unit) / place.warmup : 1.0;
  const bool warms_up = static_cast<double>(step) < place.warmup && part < 1;
  place.step = warms_up ? place.warmup : static_cast<double>(step);
  place.epoch = place.step / place.steps_per_epoch;
  const double scheduled = value(place);
  return warms_up ? common_.warmup_start + part * (scheduled - common_.warmup_start) : scheduled;
}

FieldType Codec<Scheduled>::type() {
  return FieldType::either({FieldType::number(), FieldType::component(Schedule::kKind)},
                           "a number or a schedule");
}

std::optional<Scheduled> Codec<Scheduled>::parse(const ConfigNode& node, Reader& reader) {
  Scheduled value;
  if (node.is_map()) {
    auto schedule = Codec<Part<Schedule>>::parse(node, reader);
    if (!schedule) return std::nullopt;
    value.schedule = std::move(*schedule);
    return value;
  }
  if (!node.is_number()) {
    reader.wrong_type(node, "a number or a schedule, such as 0.01 or {Cosine: {start: 0.1}}");
    return std::nullopt;
  }
  const auto number = Codec<double>::parse(node, reader);
  if (!number) return std::nullopt;
  value.number = *number;
  return value;
}

ConfigNode Codec<Scheduled>::dump(const Scheduled& value) {
  return value.schedule ? Codec<Part<Schedule>>::dump(value.schedule) : ConfigNode(value.number);
}

}  // namespace tpack
