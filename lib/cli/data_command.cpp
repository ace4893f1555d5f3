#include <cstdio>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/experiment.h"
#include "cli/option_checks.h"
#include "cli/sample_images.h"
#include "cli/text_table.h"
#include "core/log.h"
#include "core/text.h"
#include "dataflow/contact_sheet.h"
#include "dataflow/datapoint.h"

namespace tpack {
namespace {

struct InspectOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string flow;
  std::string png;
  std::string images;  // folder
  int samples = 3;
  bool json = false;
};

std::string size_text(const std::optional<int64_t>& size) {
  if (!size) return "unknown";
  return *size == kEndless ? "endless" : with_thousands(*size);
}

struct ValueRange {
  double low = 0;
  double high = 0;
  double mean = 0;
};

ValueRange range_of(const Tensor& values) {
  ValueRange range;
  for (int64_t i = 0; i < values.elements(); ++i) {
    const double v = values.at(i);
    range.low = i == 0 ? v : std::min(range.low, v);
    range.high = i == 0 ? v : std::max(range.high, v);
    range.mean += v / static_cast<double>(values.elements());
  }
  return range;
}

/// The first items of a flow, one row for each component.
void show_samples(const DataFlow& flow, uint64_t seed, int count, TextTable& table,
                  nlohmann::ordered_json& json) {
  const auto cursor = flow.open({.seed = seed});
  Datapoint item;
  for (int i = 0; i < count && cursor->next(item); ++i) {
    for (size_t c = 0; c < flow.spec().size(); ++c) {
      const Tensor& value = item.to_tensor(c);
      const ValueRange range = range_of(value);
      const std::string& name = flow.spec()[c].name;
      table.add({std::to_string(i), name, value.spec().str(), shortest(static_cast<float>(range.low)),
                 shortest(static_cast<float>(range.high)), shortest(static_cast<float>(range.mean))});
      json["samples"].push_back({{"item", i},
                                 {"component", name},
                                 {"spec", value.spec().str()},
                                 {"min", range.low},
                                 {"max", range.high},
                                 {"mean", range.mean}});
    }
  }
}

nlohmann::ordered_json spec_json(const DataFlow& flow) {
  auto components = nlohmann::ordered_json::array();
  for (const ComponentSpec& c : flow.spec()) {
    components.push_back(
        {{"name", c.name}, {"spec", c.tensor.str()}, {"image", c.is_image}, {"classes", c.classes}});
  }
  return components;
}

nlohmann::ordered_json inspect_flow(const std::string& name, const DataFlow& flow, uint64_t seed,
                                    const InspectOptions& o) {
  flow.prepare();
  TextTable facts;
  facts.add({"flow", name});
  facts.add({"spec", flow.spec().str()});
  facts.add({"items a pass", size_text(flow.size())});
  facts.add({"seek", name_of(flow.seek())});
  nlohmann::ordered_json json = {{"flow", name}, {"spec", spec_json(flow)}, {"seek", name_of(flow.seek())}};
  json["size"] =
      flow.size() && *flow.size() != kEndless ? nlohmann::json(*flow.size()) : nlohmann::json(nullptr);
  json["samples"] = nlohmann::ordered_json::array();
  TextTable samples({"item", "component", "value", "min", "max", "mean"});
  flow.bad_samples().on_bad_sample(
      [&name](const SampleError& error) { log::warning("data." + name + ": " + error.what()); });
  show_samples(flow, seed, o.samples, samples, json);
  flow.bad_samples().on_bad_sample({});  // the images of a sheet are read once more
  json["bad_samples"] = flow.bad_samples().count();
  if (!o.json) std::cout << facts.str() << "\n" << samples.str() << "\n";
  return json;
}

int inspect(const InspectOptions& o) {
  const Experiment e = load_experiment(o.config, o.overrides);
  if (e.flows.empty())
    throw ConfigError(e.source.root.position(), "'data' is missing; there is no flow to inspect");
  const auto seed = static_cast<uint64_t>(e.config.seed);
  auto all = nlohmann::ordered_json::array();
  if (!o.flow.empty()) e.flow(o.flow);
  for (const auto& [name, flow] : e.flows) {
    if (o.flow.empty() || o.flow == name) all.push_back(inspect_flow(name, flow, seed, o));
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

}  // namespace

void add_data_command(CLI::App& program, Action& action) {
  CLI::App* data = program.add_subcommand("data", "Look at the data of a config");
  data->require_subcommand(1);
  CLI::App* command = data->add_subcommand("inspect", "Show what flows give, and their first items");
  auto options = std::make_shared<InspectOptions>();
  command->add_option("config", options->config, "YAML file")->required();
  command->add_option("--set", options->overrides, "changes a value of the config; may be given again")
      ->type_name("KEY=YAML")
      ->allow_extra_args(false);
  command->add_option("--flow", options->flow, "only this flow");
  command->add_option("--samples", options->samples, "items to show")
      ->capture_default_str()
      ->check(count_from(0));
  command->add_option("--png", options->png, "write the first images to this file, as one sheet");
  command->add_option("--images", options->images, "write the first images to this folder, NUMBER-LABEL.png");
  command->add_flag("--json", options->json, "as JSON");
  command->callback([options, &action] { action = [options] { return inspect(*options); }; });
}

}  // namespace tpack
