#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "reports/model_report.h"
#include "run/data_report.h"
#include "system/log.h"

namespace tpack {
namespace {

struct CheckOptions {
  ConfigArguments config;
  bool no_data = false;
  bool json = false;
};

/// Training reads `train`; it is unknown whether it reads other flows up to their bad samples. Errors:
/// DataError.
void report_bad_samples(const std::map<std::string, DataFlow>& flows) {
  auto bad = known_bad_samples(flows);
  bad.merge(bad_samples_among_few(flows));
  for (const auto& [flow, text] : bad)
    if (flow != "train") log::warning(text);
  if (const auto train = bad.find("train"); train != bad.end()) throw DataError(train->second);
}

/// Errors: ResourceError if training needs more than engine.memory_mb.
void require_budget(const EngineSettings& engine, const MemoryReport& memory) {
  const uint64_t budget = static_cast<uint64_t>(engine.memory_mb) * 1'000'000;
  if (budget == 0 || memory.total() <= budget) return;
  throw ResourceError("training needs " + human_bytes(memory.total()) + " of memory at its peak, and " +
                      "engine.memory_mb is " + human_bytes(budget) + "; use a smaller batch_size, or `auto`" +
                      (engine.recompute ? "" : ", or engine.recompute: true"));
}

int check(CheckOptions& o) {
  fit_batch(o.config);
  CheckedExperiment checked(o.config.file, o.config.overrides, !o.no_data);
  const ModelReport report = report_model(checked);
  const auto& flows = checked.experiment().flows;
  if (o.json) {
    auto json = report.to_json();
    if (!o.no_data) json["data"] = data_json(flows, checked.experiment().tower.get());
    std::cout << json.dump(1) << "\n";
  } else {
    if (!o.no_data)
      std::cout << printable_lines(describe_data(flows, checked.experiment().tower.get())) << "\n";
    std::cout << printable_lines(report.str());
  }
  std::cout << std::flush;  // stdout and stderr may be the same file
  if (const auto limit = report.memory.limit()) {
    if (const auto shortage = report.memory.shortage(*limit)) log::warning(*shortage);
  }
  require_budget(checked.experiment().config.engine, report.memory);
  if (!o.no_data) report_bad_samples(flows);
  std::string not_checked;
  if (o.no_data) not_checked = "; data, callbacks and gates were not checked";
  if (!checked.knows_train_data())
    not_checked +=
        ", nor whether data.train fits the model, because its contents are known only after it is opened";
  log::info(o.config.file + " is valid" + not_checked);
  return 0;
}

void add_check_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<CheckOptions>();
  add_config_arguments(command, options->config);
  command.add_flag("--no-data", options->no_data,
                   "do not open the data; callbacks and gates are then not checked either, because they may "
                   "need it, nor weights of init that are missing");
  add_json_flag(command, options->json);
  command.callback([options, &action] { action = [options] { return check(*options); }; });
}

const Subcommand kCheckCommand("check", "Validate a config and show what would be trained",
                               add_check_options);

}  // namespace
}  // namespace tpack
