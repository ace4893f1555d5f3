#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "config/merge.h"
#include "config/overrides.h"
#include "dataflow/contact_sheet.h"
#include "experiment/experiment.h"
#include "system/log.h"
#include "tools/flow_inspection.h"
#include "tools/sample_images.h"
#include "tools/table_schema.h"

namespace tpack {
namespace {

struct InspectOptions {
  ConfigArguments config;
  std::string flow;
  std::string png;
  std::string images;  // folder
  int samples = 3;
  bool json = false;
};

int inspect(const InspectOptions& o) {
  const Experiment e = load_experiment(o.config.file, o.config.overrides);
  if (e.flows.empty())
    throw ConfigError(e.source.root.position(), "'data' is missing; there is no flow to inspect");
  const auto seed = static_cast<uint64_t>(e.config.seed);
  auto all = nlohmann::ordered_json::array();
  if (!o.flow.empty()) e.flow(o.flow);
  for (const auto& [name, flow] : e.flows) {
    if (!o.flow.empty() && o.flow != name) continue;
    const FlowInspection report = inspect_flow(name, flow, seed, o.samples);
    if (o.json) {
      all.push_back(report.to_json());
    } else {
      std::cout << report.str() << "\n";
    }
  }
  if (o.json) std::cout << all.dump(1) << "\n";
  if (!o.png.empty() || !o.images.empty()) {
    const std::string name =
        o.flow.empty() ? (e.flows.contains("train") ? "train" : e.flows.begin()->first) : o.flow;
    if (!o.png.empty()) write_contact_sheet(e.flow(name), o.png, {.seed = seed});
    if (!o.images.empty()) write_sample_images(e.flow(name), o.images, o.samples, seed);
    log::info("wrote the first images of " + name);
  }
  return 0;
}

struct SchemaOptions {
  std::vector<std::string> files;
  std::vector<std::string> settings;  // KEY=YAML
  bool yaml = false;
  bool json = false;
};

int show_schema(const SchemaOptions& o) {
  std::vector<ConfigNode> files;
  for (const std::string& file : o.files) files.emplace_back(file);
  ConfigNode settings({{"file", files.size() == 1 ? files[0] : ConfigNode::list(files)}});
  const FieldType structure = FieldType::section(csv_schema().fields(), "settings of source CSV");
  NodeBudget budget;
  Diagnostics errors;
  for (const std::string& text : o.settings)
    settings = merge(settings, parse_override(text, budget), structure, errors);
  errors.throw_if_any();
  const ConfigNode all = settings.with("columns", ConfigNode({{"x", kAuto}}));
  const TableSchema schema = table_schema(csv_schema().parse(all, "source CSV"));
  if (o.json)
    std::cout << schema.to_json().dump(1) << "\n";
  else
    std::cout << (o.yaml ? schema.yaml(settings) : schema.str());
  return 0;
}

void add_schema_command(CLI::App& command, Action& action) {
  CLI::App* schema_command = command.add_subcommand(
      "schema",
      "Show the columns of a table (CSV or JSON lines), and what columns that are `auto` take them for");
  auto options = std::make_shared<SchemaOptions>();
  schema_command->add_option("files", options->files, "the files of the table")->required();
  schema_command
      ->add_option("--set", options->settings,
                   "a setting of source CSV, such as delimiter=tab or types.age=number; may be repeated")
      ->type_name("KEY=YAML")
      ->allow_extra_args(false);
  add_json_flag(*schema_command, options->json);
  schema_command->add_flag("--yaml", options->yaml, "print the source for a config, with all types")
      ->excludes("--json");
  schema_command->callback([options, &action] { action = [options] { return show_schema(*options); }; });
}

void add_data_options(CLI::App& command, Action& action) {
  command.require_subcommand(1);
  CLI::App* inspect_command =
      command.add_subcommand("inspect", "Show the components of flows, and their first items");
  auto options = std::make_shared<InspectOptions>();
  add_config_arguments(*inspect_command, options->config);
  inspect_command->add_option("--flow", options->flow, "only this flow");
  inspect_command
      ->add_option("--samples", options->samples,
                   "batches (or single samples) to show; with --images, images to write")
      ->capture_default_str()
      ->check(count_from(0));
  inspect_command->add_option("--png", options->png, "write the first images to this file, as one sheet");
  inspect_command->add_option("--images", options->images,
                              "write the first images to this folder, NUMBER-LABEL.png");
  add_json_flag(*inspect_command, options->json);
  add_schema_command(command, action);
  inspect_command->callback([options, &action] { action = [options] { return inspect(*options); }; });
}

const Subcommand kDataCommand("data", "Inspect the data of a config, or a table", add_data_options);

}  // namespace

}  // namespace tpack
