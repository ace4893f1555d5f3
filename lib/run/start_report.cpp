#include "run/start_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

/// The number of passes over the data in `batches`; may be a fraction.
std::string passes_of(int64_t batches, const DataFlow* train) {
  const auto pass = train != nullptr ? train->size() : std::nullopt;
  if (!pass || *pass <= 0 || *pass == kEndless) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", static_cast<double>(batches) / static_cast<double>(*pass));
  return text;
}

/// The number of samples in `batches`: a smaller last batch of a pass counts.
int64_t samples_of(int64_t batches, int64_t batch_size, const DataFlow* train) {
  const auto batching = train != nullptr ? train->batching() : std::nullopt;
  const int64_t pass = batching && batching->keeps_remainder ? batching->samples.value_or(0) : 0;
  if (pass <= 0 || pass == kEndless || batch_size <= 0) return batches * batch_size;
  const int64_t batches_of_pass = (pass + batch_size - 1) / batch_size;
  return std::llround(static_cast<double>(batches) * static_cast<double>(pass) /
                      static_cast<double>(batches_of_pass));
}

/// By variable, if it is not 1.
std::map<std::string, double> multipliers_of(const std::vector<ParameterGroup>& groups,
                                             std::span<const Update> updates) {
  std::map<std::string, double> multipliers;
  for (const ParameterGroup& group : groups) {
    const auto update = std::find_if(updates.begin(), updates.end(),
                                     [&](const Update& one) { return one.name == group.name; });
    if (update == updates.end()) continue;
    for (const std::string& name : group.variables) {
      const double multiplier = update->optimizer->learning_rate_multiplier(name);
      if (multiplier != 1) multipliers[name] = multiplier;
    }
  }
  return multipliers;
}

}  // namespace

std::string describe_run(const StepSize& size, const RunLength& length, const DataFlow* train) {
  const int64_t batches = length.steps_per_epoch * size.batches();
  TextTable table({"run", "value"});
  if (size.batch == 0) {
    table.add({"steps per epoch", with_thousands(length.steps_per_epoch)});
    return table.str();
  }
  table.add({"batch per tower", with_thousands(size.batch)});
  table.add({"towers", with_thousands(size.towers)});
  table.add({"accumulation", with_thousands(size.accumulate)});
  table.add({"ranks", with_thousands(size.ranks)});
  table.add({"total batch", with_thousands(size.batch * size.batches())});
  table.add({"steps per epoch", with_thousands(length.steps_per_epoch)});
  table.add({"samples per epoch", with_thousands(samples_of(batches, size.batch, train))});
  table.add({"passes per epoch", passes_of(batches, train)});
  return table.str();
}

std::string describe_variables(const VariableStore& store, std::span<const Update> updates) {
  std::map<std::string, std::string> update_of;  // by variable
  const std::vector<ParameterGroup> groups = store.table().groups();
  for (const ParameterGroup& group : groups) {
    for (const std::string& name : group.variables) update_of[name] = group.name;
  }
  std::vector<const VariableSpec*> variables = store.table().trainable();
  std::sort(variables.begin(), variables.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  // A single update for all variables needs no column.
  const bool plain = groups.size() == 1 && groups[0].name.empty() && update_of.size() == variables.size();
  const std::map<std::string, double> multipliers = multipliers_of(groups, updates);
  std::vector<std::string> header = {"trainable variable", "shape", "elements"};
  if (!plain) header.emplace_back("update");
  if (!multipliers.empty()) header.emplace_back("learning rate");
  TextTable table(std::move(header));
  int64_t total = 0;
  for (const VariableSpec* variable : variables) {
    const Shape& shape = variable->spec.shape;
    std::vector<std::string> row = {variable->name, shape.str(), with_thousands(shape.elements())};
    const auto update = update_of.find(variable->name);
    if (!plain) row.push_back(update == update_of.end() ? "none: frozen" : update->second);
    const auto multiplier = multipliers.find(variable->name);
    if (!multipliers.empty())
      row.push_back(multiplier == multipliers.end() ? "" : "x " + shortest(multiplier->second));
    table.add(std::move(row));
    if (update != update_of.end()) total += shape.elements();
  }
  table.add({"total trained", "", with_thousands(total)});
  return table.str();
}

}  // namespace tpack
