#include "train/every.h"

#include <cmath>

#include "core/schema.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kEveryForms = "{steps: ...}, {epochs: ...}, or a number of epochs";

Schema<Every> every_schema() {
  return Schema<Every>("How often.")
      .field("steps", &Every::steps, at_least(1), "after each step whose number is a multiple of it")
      .field("epochs", &Every::epochs, above(0),
             "after each epoch whose number is a multiple of it; 0.25: four times in each epoch")
      .field("before_train", &Every::before_train, "also triggers when a new run begins");
}

}  // namespace

bool Every::has_part() const { return epochs && std::floor(*epochs) != *epochs; }

bool Every::ends_a_part(int64_t steps_done, const RunLength& length) const {
  const double part = *epochs * static_cast<double>(length.steps_per_epoch);
  // A part that is a number of steps must not miss its end by a rounding.
  const auto parts = [&](int64_t done) { return std::floor(static_cast<double>(done) / part + 1e-9); };
  return parts(steps_done) != parts(steps_done - 1);
}

bool Every::is_due_after_epoch(const Run& run) const {
  if (!epochs) return false;
  if (has_part()) return ends_a_part(run.epoch() * run.length().steps_per_epoch, run.length());
  return run.epoch() % static_cast<int64_t>(*epochs) == 0;
}

bool Every::is_due_after_step(const Run& run) const {
  const int64_t in_epoch = run.local_step() + 1;
  const int64_t done = (run.epoch() - 1) * run.length().steps_per_epoch + in_epoch;
  const bool is_due =
      (steps && run.global_step() % *steps == 0) || (has_part() && ends_a_part(done, run.length()));
  return is_due && (in_epoch != run.length().steps_per_epoch || !is_due_after_epoch(run));
}

bool Every::is_ever_due(const RunLength& length) const {
  return (epochs && *epochs <= static_cast<double>(length.max_epoch)) || (steps && *steps <= length.steps());
}

void Every::check(const RunLength& length) const {
  if (!has_part() || *epochs * static_cast<double>(length.steps_per_epoch) >= 1) return;
  throw ConfigError(position, "'every': " + shortest(*epochs) +
                                  " epochs are less than one step; an epoch has " +
                                  std::to_string(length.steps_per_epoch) + " steps");
}

FieldType Codec<Every>::type() {
  return FieldType::either(
      {FieldType::number(), FieldType::section(every_schema().fields(), "how often", "epochs")}, kEveryForms);
}

std::optional<Every> Codec<Every>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_map() && !node.is_number()) {
    reader.wrong_type(node, kEveryForms);
    return std::nullopt;
  }
  const size_t before = reader.errors().count();
  const ConfigNode section = node.is_map() ? node : ConfigNode::map({{"epochs", node}}, node.position());
  Every every = every_schema().parse(section, reader.what(), reader.errors());
  every.position = node.position();
  if (reader.errors().count() != before) return std::nullopt;
  if (every.steps || every.epochs || every.before_train) return every;
  reader.fail(node, "never triggers; set steps or epochs");
  return std::nullopt;
}

ConfigNode Codec<Every>::dump(const Every& every) { return every_schema().dump(every); }

}  // namespace tpack
