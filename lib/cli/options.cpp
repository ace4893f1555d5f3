#include "cli/options.h"

#include "backend/device.h"
#include "reports/fitted_batch.h"

namespace tpack {
namespace {

void add_overrides(CLI::App& command, std::vector<std::string>& into) {
  command.add_option("--set", into, "change a value of the config; may be repeated")
      ->type_name("KEY=YAML")
      ->allow_extra_args(false);
  command
      .add_option_function<std::string>(
          "--precision", [&into](const std::string& name) { into.push_back("engine.precision=" + name); },
          "arithmetic of products; the same as --set engine.precision=...")
      ->check(CLI::IsMember(precision_names()));
}

}  // namespace

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (const auto& [name, precision] : EnumNames<Precision>::kNames) names.emplace_back(name);
  return names;
}

void add_config_arguments(CLI::App& command, ConfigArguments& into) {
  command.add_option("config", into.file, "YAML file")->required();
  add_overrides(command, into.overrides);
}

void fit_batch(ConfigArguments& arguments, const std::string& continued) {
  if (!has_automatic_batch(arguments.file, arguments.overrides)) return;
  const std::string kept = continued.empty() ? "" : batch_of(continued);
  arguments.overrides.push_back(kept.empty() ? fitted_batch(arguments.file, arguments.overrides) : kept);
}

void add_model_arguments(CLI::App& command, ModelArguments& into) {
  command.add_option("model", into.file, "checkpoint; it contains its config")->required();
  add_overrides(command, into.overrides);
  command.add_flag("--allow-plugins", into.allow_plugins, "load the plugins of its config");
}

void add_plugin_option(CLI::App& command, std::vector<std::string>& into) {
  command.add_option("--plugin", into, "load a plugin and include its components; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_json_flag(CLI::App& command, bool& into) { command.add_flag("--json", into, "print JSON"); }

CLI::Validator count_from(int least) {
  constexpr int kMax = 1000000000;
  return CLI::Range(least, kMax).description("from " + std::to_string(least));
}

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "is empty" : ""; }, ""};
}

}  // namespace tpack
