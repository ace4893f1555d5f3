#include "cli/start_report.h"

#include <algorithm>
#include <cstdio>

#include "cli/text_table.h"
#include "core/text.h"

namespace tpack {
namespace {

std::string passes_text(int64_t steps_per_epoch, const std::optional<int64_t>& steps_per_pass) {
  if (!steps_per_pass || *steps_per_pass <= 0) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g",
                static_cast<double>(steps_per_epoch) / static_cast<double>(*steps_per_pass));
  return text;
}

}  // namespace

std::string describe_run(const StepSize& size, const RunLength& length,
                         const std::optional<int64_t>& steps_per_pass) {
  const int64_t total = size.batch * size.towers * size.ranks;
  TextTable table({"run", "value"});
  table.add({"batch per tower", with_thousands(size.batch)});
  table.add({"towers", with_thousands(size.towers)});
  table.add({"ranks", with_thousands(size.ranks)});
  table.add({"total batch", with_thousands(total)});
  table.add({"steps an epoch", with_thousands(length.steps_per_epoch)});
  table.add({"samples an epoch", with_thousands(total * length.steps_per_epoch)});
  table.add({"passes an epoch", passes_text(length.steps_per_epoch, steps_per_pass)});
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
