#include "cli/start_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/text_table.h"
#include "core/text.h"

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
  const int64_t replicas = size.towers * size.ranks;
  const int64_t batches = length.steps_per_epoch * replicas;
  TextTable table({"run", "value"});
  table.add({"batch per tower", with_thousands(size.batch)});
  table.add({"towers", with_thousands(size.towers)});
  table.add({"ranks", with_thousands(size.ranks)});
  table.add({"total batch", with_thousands(size.batch * replicas)});
  table.add({"steps an epoch", with_thousands(length.steps_per_epoch)});
  table.add({"samples an epoch", with_thousands(samples_of(batches, size.batch, train))});
  table.add({"passes an epoch", passes_of(batches, train)});
  return table.str();
}

std::string describe_variables(const VariableStore& store) {
  std::vector<FlatLayout::Entry> entries = store.layout().entries;
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  TextTable table({"trainable variable", "shape", "elements"});
  int64_t total = 0;
  for (const FlatLayout::Entry& entry : entries) {
    table.add({entry.name, entry.shape.str(), with_thousands(entry.shape.elements())});
    total += entry.shape.elements();
  }
  table.add({"total", "", with_thousands(total)});
  return table.str();
}

}  // namespace tpack
