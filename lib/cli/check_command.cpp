#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/data_report.h"
#include "cli/model_report.h"
#include "core/log.h"

namespace tpack {
namespace {

struct CheckOptions {
  std::string config;
  std::vector<std::string> overrides;
  bool no_data = false;
  bool json = false;
};

int check(const CheckOptions& o) {
  CheckedExperiment checked(o.config, o.overrides, !o.no_data);
  const auto report = report_model(checked);
  const auto& flows = checked.experiment().flows;
  if (o.json) {
    auto json = report ? report->to_json() : nlohmann::ordered_json::object();
    if (!o.no_data) json["data"] = data_json(flows);
    std::cout << json.dump(1) << "\n";
  } else {
    if (!o.no_data) std::cout << describe_data(flows) << "\n";
    if (report) std::cout << report->str();
  }
  std::cout << std::flush;  // both may go to one file
  log::info(o.config + " has no mistakes");
  return 0;
}

}  // namespace

void add_check_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("check", "Validate a config and show what would be trained");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("config", options->config, "YAML file")->required();
  command->add_option("--set", options->overrides, "changes a value of the config; may be given again")
      ->type_name("KEY=YAML")
      ->allow_extra_args(false);
  command->add_flag("--no-data", options->no_data, "do not open the data; take what they declare");
  command->add_flag("--json", options->json, "as JSON");
  command->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace tpack
