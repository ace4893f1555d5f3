#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tpack {

/// What is done once the command line is read; returns the exit code.
using Action = std::function<int()>;

/// "tpack 0.1.0 (plugins: version 5, ...)".
std::string version_text();

// Each adds a subcommand with its options; when the command line names it, `action` is set to its work.
void add_train_command(CLI::App& program, Action& action);
void add_check_command(CLI::App& program, Action& action);
void add_config_command(CLI::App& program, Action& action);
void add_list_command(CLI::App& program, Action& action);
void add_describe_command(CLI::App& program, Action& action);
void add_schema_command(CLI::App& program, Action& action);
void add_data_command(CLI::App& program, Action& action);
void add_bench_command(CLI::App& program, Action& action);
void add_plot_command(CLI::App& program, Action& action);
void add_eval_command(CLI::App& program, Action& action);
void add_infer_command(CLI::App& program, Action& action);
void add_ckpt_command(CLI::App& program, Action& action);
void add_version_command(CLI::App& program, Action& action);
void add_completion_command(CLI::App& program, Action& action);

}  // namespace tpack
