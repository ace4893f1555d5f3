// docs/callbacks.md: every callback and monitor of tensorpack, with our name and ranks or the reason why not.
#include <set>

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "core/text.h"
#include "monitor/monitor.h"
#include "support/paths.h"
#include "support/temporary_folder.h"
#include "train/callback.h"

namespace tpack {
namespace {

// Those of tensorpack 0.11: callbacks/__init__.py and what it exports.
const std::vector<std::string> kCallbacks = split(
    "Callback ProxyCallback CallbackFactory Callbacks StartProcOrThread RunOp RunUpdateOps "
    "ProcessTensors DumpTensors DumpTensorAsImage CheckNumerics HookToCallback CallbackToHook "
    "TFLocalCLIDebugHook Inferencer ScalarStats ClassificationError BinaryClassificationStats "
    "InferenceRunner DataParallelInferenceRunner SendStat InjectShell EstimatedTimeLeft "
    "ScheduledHyperParamSetter HyperParamSetterWithFunc StatMonitorParamSetter HumanHyperParamSetter "
    "GPUUtilizationTracker GraphProfiler GPUMemoryTracker HostMemoryTracker ThroughputTracker "
    "ModelSaver MinSaver MaxSaver TensorPrinter ProgressBar MaintainStepCounter SessionRunTimeout "
    "MovingAverageSummary MergeAllSummaries SimpleMovingAverage PeriodicTrigger PeriodicCallback "
    "EnableCallbackIf",
    ' ');
const std::vector<std::string> kMonitors = split(
    "Monitors TFEventWriter JSONWriter ScalarPrinter SendMonitorData CometMLMonitor ScalarHistory", ' ');

struct Row {
  std::string theirs;  // "" for what only tpack has
  std::string ours;    // "" for nothing
  std::string ranks;
  std::string notes;
};

std::string cell(const std::string& text) { return std::string(trim(text)); }

/// The rows of the table below a heading.
std::vector<Row> rows_of(const std::string& heading) {
  std::vector<Row> rows;
  bool inside = false;
  for (const std::string& line : split(content_of(source_folder() + "/docs/callbacks.md"), '\n')) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    const std::vector<std::string> cells = split(line, '|');
    if (!inside || cells.size() < 6 || cell(cells[1]) == "tensorpack" || cell(cells[1]).starts_with("---"))
      continue;
    const size_t last = cells.size() - 2;  // before the line's last '|'
    Row row{cell(cells[1]), cell(cells[2]), cell(cells[last - 1]), cell(cells[last])};
    const bool is_name = row.ours.size() > 2 && row.ours.front() == '`' && row.ours.back() == '`';
    row.ours = is_name ? row.ours.substr(1, row.ours.size() - 2) : "";
    rows.push_back(row);
  }
  return rows;
}

/// The names of tensorpack in the table are these, and each row has our name or a reason.
void check_rows(const std::vector<Row>& rows, const std::vector<std::string>& theirs,
                const ComponentTable& ours) {
  std::vector<std::string> names;
  std::set<std::string> listed;
  for (const Row& row : rows) {
    if (!row.theirs.empty()) names.push_back(row.theirs);
    listed.insert(row.ours);
    if (row.ours.empty()) {
      EXPECT_FALSE(row.notes.empty())
          << "row " << row.theirs << ": give it the name of a component, or a reason in the notes";
      continue;
    }
    const ComponentInfo* info = ours.find(row.ours);
    if (info == nullptr) {
      ADD_FAILURE() << "row " << row.theirs << ": no " << ours.kind() << " '" << row.ours
                    << "' is registered";
    } else {
      EXPECT_EQ(info->name, row.ours) << "row " << row.theirs << ": has an alias; use the name";
    }
  }
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(theirs)) << "the first column of docs/callbacks.md";
  for (const ComponentInfo* info : ours.list()) {
    if (info->name.starts_with("Test")) continue;  // of this program
    EXPECT_TRUE(listed.contains(info->name))
        << info->name << " has no row; add one to docs/callbacks.md: | | `" << info->name
        << "` | when | ranks | what it does | (monitors: without when)";
  }
}

TEST(CallbackList, has_every_callback) {
  check_rows(rows_of("Callbacks"), kCallbacks, Registry<Callback>::table());
}

TEST(CallbackList, has_every_monitor) {
  check_rows(rows_of("Monitors"), kMonitors, Registry<Monitor>::table());
}

class RanksOfCallback : public testing::TestWithParam<Row> {};

/// One test for each row that says where a callback runs.
TEST_P(RanksOfCallback, are_as_in_the_table) {
  const Row& row = GetParam();
  const ComponentInfo& info = Registry<Callback>::table().at(row.ours, {});
  if (row.ranks == "as inner") {
    for (const auto& [ranks, is_for_chief] : {std::pair{"chief", true}, {"all", false}}) {
      const ComponentItem item = component_item(parse_yaml(info.example(), "e.yaml"), "callback");
      const ConfigNode inner{{"ThroughputTracker", ConfigNode{{"ranks", ranks}}}};
      const auto callback = Registry<Callback>::make(row.ours, item.params.with("callback", inner));
      EXPECT_EQ(callback->is_for_chief(), is_for_chief);
    }
    return;
  }
  ASSERT_TRUE(row.ranks == "chief" || row.ranks == "all")
      << "row " << row.ours << ": ranks is '" << row.ranks << "'; it must be chief, all or as inner";
  const std::string item = info.example().empty() ? info.name : info.example();
  const auto callback = Registry<Callback>::make_item(parse_yaml(item, "e.yaml"));
  EXPECT_EQ(callback->is_for_chief(), row.ranks == "chief")
      << "row " << row.ours << ": ranks is '" << row.ranks << "', but it runs on "
      << (callback->is_for_chief() ? "only the chief" : "all ranks");
}

std::vector<Row> rows_with_ranks() {
  std::vector<Row> rows = rows_of("Callbacks");
  std::erase_if(rows, [](const Row& row) { return row.ours.empty(); });
  return rows;
}
std::string name_of_row(const testing::TestParamInfo<Row>& info) {
  return info.param.theirs.empty() ? info.param.ours : info.param.theirs;
}
INSTANTIATE_TEST_SUITE_P(Table, RanksOfCallback, testing::ValuesIn(rows_with_ranks()), name_of_row);

}  // namespace
}  // namespace tpack
