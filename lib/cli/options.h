#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tpack {

// Arguments and options of several subcommands. Each is declared only here.

/// `CONFIG --set KEY=YAML ... --precision NAME`.
struct ConfigArguments {
  std::string file;
  std::vector<std::string> overrides;
};
void add_config_arguments(CLI::App& command, ConfigArguments& into);

/// Adds a number in place of `batch_size: auto` to the overrides, if the config has that: fitted_batch, or
/// that of `continued`, the config of the run to continue (empty: there is none). Errors: as fitted_batch.
void fit_batch(ConfigArguments& arguments, const std::string& continued = {});

/// `MODEL --set KEY=YAML ... --precision NAME --allow-plugins`: a checkpoint, with changes to its config.
struct ModelArguments {
  std::string file;
  std::vector<std::string> overrides;
  bool allow_plugins = false;
};
void add_model_arguments(CLI::App& command, ModelArguments& into);

/// The values of `--precision`.
std::vector<std::string> precision_names();

/// `--plugin FILE ...`.
void add_plugin_option(CLI::App& command, std::vector<std::string>& into);
/// `--json`.
void add_json_flag(CLI::App& command, bool& into);

/// Accepts numbers of steps, files or classes from `least` up to a billion.
CLI::Validator count_from(int least);
/// Rejects an empty path: it comes from a shell variable that is not set.
CLI::Validator not_empty();

}  // namespace tpack
