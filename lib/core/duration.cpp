#include "core/duration.h"

#include <cmath>

#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kDurationForms = "{steps: ...}, {epochs: ...}, or a number of epochs";

}  // namespace

std::string Duration::str() const {
  return shortest(count) + (unit == Unit::kSteps ? " step" : " epoch") + (count == 1 ? "" : "s");
}

FieldType Codec<Duration>::type() {
  const std::vector<FieldInfo> units = {
      {.name = "steps", .type = FieldType::integer(), .doc = "number of steps"},
      {.name = "epochs", .type = FieldType::number(), .doc = "number of epochs"}};
  return FieldType::either({FieldType::number(), FieldType::section(units, "a number with its unit")},
                           kDurationForms);
}

std::optional<Duration> Codec<Duration>::parse(const ConfigNode& node, Reader& reader) {
  const ConfigNode* number = &node;
  Duration duration;
  if (node.is_map()) {
    const bool is_one = node.size() == 1;
    const std::string key = is_one ? node.entries()[0].key : "";
    if (key != "steps" && key != "epochs") {
      reader.wrong_type(node, kDurationForms);
      return std::nullopt;
    }
    number = &node.entries()[0].value;
    duration.unit = key == "steps" ? Duration::Unit::kSteps : Duration::Unit::kEpochs;
  }
  if (!number->is_number()) {
    reader.wrong_type(*number, node.is_map() ? "a number" : kDurationForms);
    return std::nullopt;
  }
  const auto count = parse_real(*number, reader);
  if (!count) return std::nullopt;
  duration.count = *count;
  if (!std::isfinite(duration.count) || duration.count < 0) {
    reader.fail(*number, shortest(duration.count) + " is not a duration; must be at least 0");
    return std::nullopt;
  }
  if (duration.unit == Duration::Unit::kSteps && std::floor(duration.count) != duration.count) {
    reader.fail(*number, "expected a whole number of steps, found " + number->text());
    return std::nullopt;
  }
  return duration;
}

ConfigNode Codec<Duration>::dump(const Duration& duration) {
  const bool is_steps = duration.unit == Duration::Unit::kSteps;
  const ConfigNode number = std::floor(duration.count) == duration.count && duration.count < 1e15
                                ? ConfigNode(static_cast<int64_t>(duration.count))
                                : ConfigNode(duration.count);
  return ConfigNode::map({{is_steps ? "steps" : "epochs", number}});
}

}  // namespace tpack
