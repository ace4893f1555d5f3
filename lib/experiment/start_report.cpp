#include "experiment/start_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

/// Passes over the data that `batches` are; a part of one, too.
std::string passes_of(int64_t batches, const DataFlow* train) {
  const auto pass = train != nullptr ? train->size() : std::nullopt;
  if (!pass || *pass <= 0 || *pass == kEndless) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", static_cast<double>(batches) / static_cast<double>(*pass));
  return text;
}

/// Samples of that many batches: a pass whose last batch is smaller has fewer than whole ones would have.
int64_t samples_of(int64_t batches, int64_t batch_size, const DataFlow* train) {
  const auto batching = train != nullptr ? train->batching() : std::nullopt;
  const int64_t pass = batching && batching->keeps_remainder ? batching->samples.value_or(0) : 0;
  if (pass <= 0 || pass == kEndless || batch_size <= 0) return batches * batch_size;
  const int64_t batches_of_pass = (pass + batch_size - 1) / batch_size;
  return std::llround(static_cast<double>(batches) * static_cast<double>(pass) /
                      static_cast<double>(batches_of_pass));
}

}  // namespace

std::string describe_run(const StepSize& size, const RunLength& length, const DataFlow* train) {
  const int64_t batches = length.steps_per_epoch * size.batches();
  TextTable table({"run", "value"});
  table.add({"batch per tower", with_thousands(size.batch)});
  table.add({"towers", with_thousands(size.towers)});
  table.add({"accumulated batches", with_thousands(size.accumulate)});
  table.add({"ranks", with_thousands(size.ranks)});
  table.add({"total batch", with_thousands(size.batch * size.batches())});
  table.add({"steps per epoch", with_thousands(length.steps_per_epoch)});
  table.add({"samples per epoch", with_thousands(samples_of(batches, size.batch, train))});
  table.add({"passes per epoch", passes_of(batches, train)});
  return table.str();
}

std::string describe_variables(const VariableStore& store) {
  std::map<std::string, std::string> update_of;  // by variable
  const std::vector<ParameterGroup> groups = store.table().groups();
  for (const ParameterGroup& group : groups) {
    for (const std::string& name : group.variables) update_of[name] = group.name;
  }
  std::vector<const VariableSpec*> variables = store.table().trainable();
  std::sort(variables.begin(), variables.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  // One update that trains all needs no column.
  const bool plain = groups.size() == 1 && groups[0].name.empty() && update_of.size() == variables.size();
  TextTable table(plain ? std::vector<std::string>{"trainable variable", "shape", "elements"}
                        : std::vector<std::string>{"trainable variable", "shape", "elements", "update"});
  int64_t total = 0;
  for (const VariableSpec* variable : variables) {
    const Shape& shape = variable->spec.shape;
    std::vector<std::string> row = {variable->name, shape.str(), with_thousands(shape.elements())};
    const auto update = update_of.find(variable->name);
    if (!plain) row.push_back(update == update_of.end() ? "none: frozen" : update->second);
    table.add(std::move(row));
    if (update != update_of.end()) total += shape.elements();
  }
  table.add({"total trained", "", with_thousands(total)});
  return table.str();
}

}  // namespace tpack
