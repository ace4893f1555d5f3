#include "experiment/ignored_labels.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "core/registry.h"
#include "system/log.h"

namespace tpack {
namespace {

/// The inputs whose numbers may include the ignored one.
using IgnoredOfInput = std::map<std::string, int64_t>;

bool has_field(const std::string& component, const std::string& field) {
  for (const char* const kind : {"loss", "metric"}) {
    const ComponentInfo* const info = ComponentTable::of(kind).find(component);
    if (info == nullptr) continue;
    const std::vector<FieldInfo> fields = info->fields();
    return std::ranges::find(fields, field, &FieldInfo::name) != fields.end();
  }
  return false;
}

/// `node`: a list of costs or metrics, or such lists by name.
void check_items(const ConfigNode& node, const IgnoredOfInput& inputs, Diagnostics& errors) {
  if (node.is_list())
    for (const ConfigNode& item : node.items()) check_items(item, inputs, errors);
  if (!node.is_map()) return;
  for (const auto& entry : node.entries()) {
    const ConfigNode* const labels = entry.value.is_map() ? entry.value.find("labels") : nullptr;
    const auto input = labels != nullptr && labels->is_string() ? inputs.find(labels->text()) : inputs.end();
    if (input == inputs.end() || !has_field(entry.key, "ignore_label")) {
      check_items(entry.value, inputs, errors);
      continue;
    }
    const std::string number = std::to_string(input->second);
    const ConfigNode* const given = entry.value.find("ignore_label");
    if (given == nullptr || given->is_null())
      errors.add(
          entry.key_position,
          entry.key + ": '" + input->first + "' has " + number +
              " where it does not count, which would be treated as a class; write ignore_label: " + number);
    else if (given->text() != number)
      errors.add(given->position(), "'ignore_label' is " + given->text() + ", but '" + input->first +
                                        "' has " + number +
                                        " where it does not count; write ignore_label: " + number);
  }
}

}  // namespace

void check_ignored_labels(const ConfigNode& model, const TowerFunction& tower, const DataFlow& train) {
  IgnoredOfInput inputs;
  for (const TowerInput& input : tower.inputs()) {
    const auto at = train.spec().find(input.component);
    if (at && train.spec()[*at].ignored) inputs[input.name] = *train.spec()[*at].ignored;
  }
  if (inputs.empty()) return;
  Diagnostics errors;
  for (const char* const section : {"cost", "metrics"})
    if (const ConfigNode* const items = model.find(section)) check_items(*items, inputs, errors);
  errors.throw_if_any();
}

namespace {

/// Calls `see` with the type and the parameters of each item of a list of costs or metrics.
void each_item(const ConfigNode* list,
               const std::function<void(const std::string&, const ConfigNode&)>& see) {
  if (list == nullptr || !list->is_list()) return;
  for (const ConfigNode& item : list->items())
    if (item.is_map() && item.size() == 1 && item.entries()[0].value.is_map())
      see(item.entries()[0].key, item.entries()[0].value);
}

}  // namespace

void warn_of_counted_labels(const ConfigNode& model) {
  std::map<std::string, std::string> ignored;  // number by labels
  each_item(model.find("cost"), [&](const std::string& /*type*/, const ConfigNode& params) {
    const ConfigNode* const labels = params.find("labels");
    const ConfigNode* const number = params.find("ignore_label");
    if (labels != nullptr && labels->is_string() && number != nullptr && !number->is_null())
      ignored[labels->text()] = number->text();
  });
  each_item(model.find("metrics"), [&](const std::string& type, const ConfigNode& params) {
    const ConfigNode* const labels = params.find("labels");
    const ConfigNode* const number = params.find("ignore_label");
    if (labels == nullptr || !labels->is_string() || (number != nullptr && !number->is_null())) return;
    const auto found = ignored.find(labels->text());
    if (found == ignored.end() || !has_field(type, "ignore_label")) return;
    log::warning(Problem{params.position(),
                         "metric " + type + " counts the labels " + found->second + " of '" + found->first +
                             "', which the cost ignores; write ignore_label: " + found->second +
                             " in the metric, too"}
                     .str());
  });
}

}  // namespace tpack
